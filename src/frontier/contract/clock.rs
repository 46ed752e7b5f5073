//! The time of a store, in milliseconds, which never goes back.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A point in time, in milliseconds since 1970; at most [`StoreTime::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StoreTime(u64);

impl StoreTime {
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

    /// Returns how long it is from another point in time to this one; zero if it has passed.
    pub(crate) fn since(self, other: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(other.0))
    }
}

/// The current time, which lies within a millisecond.
///
/// A time has come once the current millisecond has reached it; a duration begins with the next
/// millisecond, so that no host is requested a fraction of one too early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    time: StoreTime,
    next: StoreTime,
}

impl Now {
    /// Returns the last millisecond that has come.
    pub(crate) fn time(self) -> StoreTime {
        self.time
    }

    /// Returns when a duration that begins now has certainly ended; one of zero ends immediately.
    pub(crate) fn after(self, duration: Duration) -> StoreTime {
        if duration.is_zero() {
            return self.time;
        }
        StoreTime::from_millis(self.next.0.saturating_add(millis(duration)))
    }
}

/// Returns a duration in milliseconds, rounded up.
pub(crate) fn millis(duration: Duration) -> u64 {
    let millis = duration.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis).map_or(StoreTime::MAX.0, |millis| millis.min(StoreTime::MAX.0))
}

/// A source of time; tests have their own.
pub trait Clock: Send + Sync {
    /// Returns the time since 1970.
    fn now(&self) -> Duration;
}

/// The system's clock, read once: from then on, the monotonic clock measures the time.
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

/// A clock that never goes back, even if the underlying one does.
///
/// So pauses that were set earlier last as long as intended, instead of, for example, an hour more.
pub(crate) struct SteadyClock {
    clock: Box<dyn Clock>,
    last: StoreTime,
    ahead: Duration,
}

impl SteadyClock {
    /// Returns a clock that starts no earlier than `last`.
    pub(crate) fn starting_at(clock: Box<dyn Clock>, last: StoreTime) -> Self {
        Self::continuing(clock, last, Duration::ZERO)
    }

    /// Returns a clock that continues an earlier one, which was that far ahead of the underlying
    /// clock: the time in between counts.
    pub(crate) fn continuing(clock: Box<dyn Clock>, last: StoreTime, ahead: Duration) -> Self {
        Self { clock, last, ahead }
    }

    /// Returns how far it is ahead of the underlying clock.
    pub(crate) fn ahead(&self) -> Duration {
        self.ahead
    }

    /// Returns the current time, which is never before an earlier result.
    pub(crate) fn now(&mut self) -> Now {
        let read = self.clock.now();
        let mut time = floor(read + self.ahead);
        if time < self.last {
            self.ahead += self.last.since(time);
            time = floor(read + self.ahead);
        }
        self.last = time;
        let next = StoreTime::from_millis(millis(read + self.ahead));
        Now { time, next }
    }
}

fn floor(duration: Duration) -> StoreTime {
    u64::try_from(duration.as_millis()).map_or(StoreTime::MAX, StoreTime::from_millis)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    struct SetClock(Arc<AtomicU64>);

    impl Clock for SetClock {
        fn now(&self) -> Duration {
            Duration::from_millis(self.0.load(Ordering::Relaxed))
        }
    }

    struct Fixed(Duration);

    impl Clock for Fixed {
        fn now(&self) -> Duration {
            self.0
        }
    }

    #[test]
    fn time_goes_on_when_the_clock_goes_back() {
        let reading = Arc::new(AtomicU64::new(5000));
        let clock = Box::new(SetClock(Arc::clone(&reading)));
        let mut steady = SteadyClock::starting_at(clock, StoreTime(7000));
        assert_eq!(steady.now().time(), StoreTime(7000));
        for (millis, time) in [(5100, 7100), (1000, 7100), (1001, 7101), (9000, 15100)] {
            reading.store(millis, Ordering::Relaxed);
            assert_eq!(steady.now().time(), StoreTime(time));
        }
        // Another process uses it next.
        reading.store(11_000, Ordering::Relaxed);
        let clock = Box::new(SetClock(Arc::clone(&reading)));
        let mut next = SteadyClock::continuing(clock, StoreTime(15_100), steady.ahead());
        assert_eq!(next.now().time(), StoreTime(17_100));
    }

    #[test]
    fn what_lasts_is_never_cut_short_by_rounding() {
        let at = |micros| {
            let clock = Fixed(Duration::from_micros(micros));
            SteadyClock::starting_at(Box::new(clock), StoreTime::default()).now()
        };
        let second = Duration::from_secs(1);
        assert_eq!(at(5000).after(second), StoreTime(1005));
        assert_eq!(at(5001).after(second), StoreTime(1006));
        assert_eq!(at(5001).after(Duration::ZERO), StoreTime(5));
        assert_eq!(at(1_005_999).time(), StoreTime(1005));
        assert_eq!(at(5000).after(Duration::from_nanos(1)), StoreTime(6));
        assert_eq!(at(5000).after(Duration::MAX), StoreTime::MAX);
        assert_eq!(StoreTime(1).since(StoreTime(5)), Duration::ZERO);
    }
}
