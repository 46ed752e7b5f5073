//! The policy: how much evidence makes a link dead, and when a target is checked again.

use std::time::Duration;

use sha2::{Digest as _, Sha256};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// The fewest strikes that can make a link dead: one observation alone never does.
const MIN_STRIKES: u8 = 2;

/// A host with many links gets one request every ten seconds on average, at most.
const PER_LINK: Duration = Duration::from_secs(10);

/// The longest interval between two checks of a working target.
const MAX_RECHECK: Duration = Duration::from_secs(3660 * 86_400);

/// The policy: how much evidence makes a link dead, and when a target is checked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    strikes: u8,
    strike_interval: Duration,
    recheck: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            strikes: 3,
            strike_interval: 3 * DAY,
            recheck: 14 * DAY,
        }
    }
}

impl Policy {
    /// Sets how many strikes make a link dead, at least two.
    #[must_use]
    pub fn with_strikes(self, strikes: u8) -> Self {
        Self {
            strikes: strikes.max(MIN_STRIKES),
            ..self
        }
    }

    /// Sets how long after a strike a failure is a further one.
    #[must_use]
    pub fn with_strike_interval(self, strike_interval: Duration) -> Self {
        Self {
            strike_interval,
            ..self
        }
    }

    /// Sets when a working target is checked again, after at most ten years.
    #[must_use]
    pub fn with_recheck(self, recheck: Duration) -> Self {
        Self {
            recheck: recheck.min(MAX_RECHECK),
            ..self
        }
    }

    pub(super) fn strikes(self) -> u8 {
        self.strikes
    }

    pub(super) fn strike_interval(self) -> Duration {
        self.strike_interval
    }

    /// Returns when to check a working target again: spread around the interval, so that targets
    /// that were added together are not checked together forever.
    pub(super) fn after_success(self, target: &str, checked: i64, links: u64) -> Duration {
        // From 7/8 of it to 9/8, the same for whichever worker computes it.
        let share = f64::from(share(target, checked)) / f64::from(u16::MAX);
        stretched(self.recheck.mul_f64(0.875 + 0.25 * share), links)
    }

    /// Returns the longest time until a target is checked again, if its host has a number of links.
    pub(crate) fn longest(self, links: u64) -> Duration {
        stretched(self.recheck.mul_f64(1.125).max(3 * DAY), links)
    }

    /// Returns when to check a target again after a number of consecutive checks in which it did
    /// not work.
    pub(super) fn after_failures(self, failures: u8, links: u64) -> Duration {
        let interval = match failures {
            0 | 1 => HOUR,
            2 => DAY,
            _ => 3 * DAY,
        };
        stretched(interval, links)
    }
}

/// Returns an interval that leaves a host with a number of links time for all of them.
fn stretched(interval: Duration, links: u64) -> Duration {
    let links = u32::try_from(links).unwrap_or(u32::MAX);
    interval.max(PER_LINK.saturating_mul(links))
}

/// Returns a pseudo-random number for a target and a time.
fn share(target: &str, checked: i64) -> u16 {
    let mut hash = Sha256::new();
    hash.update(checked.to_le_bytes());
    hash.update(target);
    let digest = hash.finalize();
    u16::from_le_bytes([digest[0], digest[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_work_is_requested_soon_and_then_rarely() {
        let intervals = [1, 2, 3, 4, 255].map(|count| Policy::default().after_failures(count, 1));
        assert_eq!(intervals, [HOUR, DAY, 3 * DAY, 3 * DAY, 3 * DAY]);
    }

    #[test]
    fn what_works_is_requested_at_spread_times() {
        let policy = Policy::default();
        let mut times: Vec<_> = (0..1000)
            .map(|number| policy.after_success(&format!("https://e.example/{number}"), 0, 1000))
            .collect();
        times.sort_unstable();
        let (first, last) = (times[0], times[999]);
        assert!(first >= 14 * DAY * 7 / 8 && last <= 14 * DAY * 9 / 8);
        // Neither all early, nor all late, nor at the same times.
        assert!(times[250] < 14 * DAY && times[750] > 14 * DAY);
        times.dedup();
        assert!(times.len() > 950);
        assert!(last <= policy.longest(1000));
        let again = policy.after_success("https://e.example/1", 0, 1);
        assert_eq!(policy.after_success("https://e.example/1", 0, 1), again);
        assert_ne!(policy.after_success("https://e.example/1", 1, 1), again);
    }

    #[test]
    fn a_host_with_many_links_is_requested_more_slowly() {
        let policy = Policy::default();
        assert_eq!(policy.after_failures(1, 360), HOUR);
        assert_eq!(policy.after_failures(1, 720), 2 * HOUR);
        let million = policy.after_success("https://e.example/", 0, 1_000_000);
        assert_eq!(million, Duration::from_secs(10_000_000));
        assert!(policy.after_failures(1, u64::MAX) > million);
    }

    #[test]
    fn no_interval_is_too_long_to_be_spread() {
        let policy = Policy::default().with_recheck(Duration::MAX);
        for checked in 0..100 {
            let next = policy.after_success("https://e.example/", checked, u64::MAX);
            assert!(next >= MAX_RECHECK * 7 / 8);
        }
    }

    #[test]
    fn one_strike_is_never_enough() {
        assert_eq!(Policy::default().with_strikes(0).strikes(), MIN_STRIKES);
        assert_eq!(Policy::default().with_strikes(5).strikes(), 5);
    }
}
