//! The pause after a lost push: random, so that colliding writers separate, and longer each time,
//! so that many writers collide less; but only a few times.
//!
//! Pure: the random value is passed in as a number.

use std::time::Duration;

/// The longest pause after the first loss. A push to a nearby remote takes about as long.
const FIRST: Duration = Duration::from_millis(50);

/// The number of losses that are followed by a pause.
const PAUSES: u32 = 5;

/// Returns the pause after consecutive losses: a random time up to a limit that doubles with each.
///
/// After more than [`PAUSES`] losses there is no pause: the latest winner does not pause, either,
/// and would win again.
pub(crate) fn pause(losses: u32, random: u64) -> Duration {
    if !(1..=PAUSES).contains(&losses) {
        return Duration::ZERO;
    }
    let limit = FIRST * (1 << (losses - 1));
    let share = u32::try_from(random % 1_001).unwrap_or_default();
    limit / 1_000 * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_until_it_is_time_to_insist() {
        let longest = [0, 1, 2, 3, 4, 5, 6, u32::MAX];
        let longest = longest.map(|losses| pause(losses, 1_000).as_millis());
        assert_eq!(longest, [0, 50, 100, 200, 400, 800, 0, 0]);
    }

    #[test]
    fn is_anything_below_the_limit() {
        for losses in 1..=PAUSES {
            assert_eq!(pause(losses, 1_001), Duration::ZERO);
            assert_eq!(pause(losses, 500) * 2, pause(losses, 1_000));
            assert!(pause(losses, u64::MAX) <= pause(losses, 1_000));
        }
    }
}
