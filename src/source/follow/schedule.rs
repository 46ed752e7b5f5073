//! When to fetch next: at every interval, with some jitter, and less often while it fails.
//!
//! Pure: randomness is passed in as a number, so that every case can be tested.

use std::time::Duration;

/// The longest pause after failures, unless the interval itself is longer.
///
/// Long enough to spare a broken remote, short enough to notice soon that it has recovered.
const LONGEST: Duration = Duration::from_secs(300);

/// The maximum jitter of a pause, as a fraction of it: 1/8.
///
/// It prevents servers that were started together from always fetching at the same time.
const JITTER: u32 = 8;

/// When to fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    interval: Duration,
}

impl Schedule {
    /// Returns a schedule that fetches every `interval`.
    pub fn every(interval: Duration) -> Self {
        Self { interval }
    }

    /// Returns the pause after a number of consecutive failures: the interval, doubled with each
    /// but the first, up to a limit. `random` is any number, and determines the jitter.
    pub(crate) fn pause(self, failures: u32, random: u64) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        let pause = (self.interval.saturating_mul(1 << doublings)).min(LONGEST.max(self.interval));
        let share = u32::try_from(random % 1_001).unwrap_or_default();
        let most = pause / JITTER;
        (pause - most).saturating_add((most / 500).saturating_mul(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn seconds(interval: Duration, failures: u32) -> [u64; 2] {
        [0, 1_000].map(|random| Schedule::every(interval).pause(failures, random).as_secs())
    }

    #[test]
    fn keeps_about_to_the_interval_while_all_is_well() {
        assert_eq!(seconds(MINUTE, 0), [52, 67]);
        assert_eq!(seconds(MINUTE, 1), [52, 67]);
    }

    #[test]
    fn fetches_less_often_while_it_fails_up_to_a_limit() {
        assert_eq!(seconds(MINUTE, 2), [105, 135]);
        assert_eq!(seconds(MINUTE, 3), [210, 270]);
        for failures in [4, 5, 40, u32::MAX] {
            assert_eq!(seconds(MINUTE, failures), [262, 337]);
        }
    }

    #[test]
    fn never_fetches_more_often_than_the_interval() {
        assert_eq!(seconds(MINUTE * 60, 9), [3_150, 4_050]);
        assert!(seconds(Duration::MAX, 9)[1] > u64::MAX / 2);
    }
}
