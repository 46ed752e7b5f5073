//! Time as a store counts it: milliseconds that never go back.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A point in time, in milliseconds since 1970; at most [`Timestamp::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Timestamp(u64);

impl Timestamp {
    /// The latest point in time, some 140,000 years ahead; every store can write it exactly.
    pub(crate) const MAX: Self = Self(1 << 52);

    /// Returns the point in time so many milliseconds after 1970, or the latest one.
    pub(crate) fn from_millis(millis: u64) -> Self {
        Self(millis).min(Self::MAX)
    }

    /// Returns the milliseconds since 1970.
    pub(crate) fn millis(self) -> u64 {
        self.0
    }

    /// Returns the point in time a duration later, rounded up: a pause is never cut short.
    pub(crate) fn after(self, duration: Duration) -> Self {
        Self::from_millis(self.0.saturating_add(millis(duration)))
    }

    /// Returns how long it is from another point in time to this one; zero if it has passed.
    pub(crate) fn since(self, other: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(other.0))
    }
}

/// Returns a duration in milliseconds, rounded up.
pub(crate) fn millis(duration: Duration) -> u64 {
    let millis = duration.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis).map_or(Timestamp::MAX.0, |millis| millis.min(Timestamp::MAX.0))
}

/// A source of time; tests have their own.
pub trait Clock: Send + Sync {
    /// Returns the time since 1970.
    fn now(&self) -> Duration;
}

/// The system's clock, read once: from then on, time passes as the monotonic clock counts it.
///
/// So setting the system's clock neither shortens a pause nor ends a lease.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Duration,
    started: Instant,
}

impl SystemClock {
    /// Reads the system's clock.
    pub fn new() -> Self {
        Self {
            start: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default(),
            started: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start + self.started.elapsed()
    }
}

/// A clock that goes on from where it was if the one below it goes back.
///
/// What was set by the earlier time then lasts as long as it was meant to, instead of an hour more.
pub(crate) struct SteadyClock {
    clock: Box<dyn Clock>,
    last: Timestamp,
    ahead: Duration,
}

impl SteadyClock {
    /// Returns a clock that starts no earlier than `last`.
    pub(crate) fn starting_at(clock: Box<dyn Clock>, last: Timestamp) -> Self {
        Self {
            clock,
            last,
            ahead: Duration::ZERO,
        }
    }

    /// Returns the time, which is never before an earlier answer.
    pub(crate) fn now(&mut self) -> Timestamp {
        // Rounded down: a time that has not come is never reported.
        let read = u64::try_from((self.clock.now() + self.ahead).as_millis());
        let now = read.map_or(Timestamp::MAX, Timestamp::from_millis);
        if now < self.last {
            self.ahead += self.last.since(now);
        }
        self.last = self.last.max(now);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    struct Hand(Arc<AtomicU64>);

    impl Clock for Hand {
        fn now(&self) -> Duration {
            Duration::from_millis(self.0.load(Ordering::Relaxed))
        }
    }

    #[test]
    fn time_goes_on_when_the_clock_goes_back() {
        let hand = Arc::new(AtomicU64::new(5000));
        let clock = Box::new(Hand(Arc::clone(&hand)));
        let mut steady = SteadyClock::starting_at(clock, Timestamp(7000));
        assert_eq!(steady.now(), Timestamp(7000));
        for (reading, time) in [(5100, 7100), (1000, 7100), (1001, 7101), (9000, 15100)] {
            hand.store(reading, Ordering::Relaxed);
            assert_eq!(steady.now(), Timestamp(time));
        }
    }

    #[test]
    fn durations_are_rounded_up_and_bounded() {
        let start = Timestamp(1);
        assert_eq!(start.after(Duration::from_nanos(1)), Timestamp(2));
        assert_eq!(start.after(Duration::MAX), Timestamp::MAX);
        assert_eq!(start.since(Timestamp(5)), Duration::ZERO);
    }
}
