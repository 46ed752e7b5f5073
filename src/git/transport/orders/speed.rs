//! The timeouts of a transfer: of its progress, and of the whole.
//!
//! Like Git's own limit for HTTP (git-config(1), `http.lowSpeedLimit`), the first is one of speed:
//! a large repository may take long, but a remote must not stall by sending a byte now and then.

use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

use super::progress::ProgressReport;

/// The speed below which a transfer makes no progress, in bytes a second.
const SLOWEST: f64 = 1_000.0;

/// The timeout that ended a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferTimeout {
    /// It made too little progress for so long.
    Slow(Duration),
    /// It took longer than this.
    Total(Duration),
}

impl fmt::Display for TransferTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slow(timeout) => write!(
                f,
                "less than 1,000 bytes a second arrived for longer than {timeout:?}: see whether \
                 the remote is well, or raise the setting \"git timeout\""
            ),
            Self::Total(timeout) => write!(
                f,
                "fetching or pushing took longer than {timeout:?}: see whether the remote is well, \
                 or raise the setting \"git timeout total\""
            ),
        }
    }
}

/// The progress of a transfer, against its limits.
#[derive(Debug)]
pub(crate) struct SpeedLimit {
    timeout: Duration,
    total: Duration,
    began: Instant,
    /// The time since which the transfer is too slow, and the number of bytes that had arrived by
    /// then.
    slow_since: Instant,
    received: u64,
    /// Whether nothing more is expected.
    is_complete: bool,
}

impl SpeedLimit {
    pub(crate) fn new(timeout: Duration, total: Duration, now: Instant) -> Self {
        Self {
            timeout,
            total,
            began: now,
            slow_since: now,
            received: 0,
            is_complete: false,
        }
    }

    /// Takes a report into account.
    pub(crate) fn update(&mut self, report: ProgressReport, now: Instant) {
        match report {
            ProgressReport::Complete => self.is_complete = true,
            ProgressReport::Received(bytes) => {
                let least = (SLOWEST * self.timeout.as_secs_f64()).max(1.0);
                let arrived = bytes.saturating_sub(self.received);
                if self.is_complete || arrived as f64 >= least {
                    self.slow_since = now;
                    self.received = bytes;
                }
                self.is_complete = false;
            }
        }
    }

    /// Returns the timeout that has passed.
    pub(crate) fn passed(&self, now: Instant) -> Option<TransferTimeout> {
        if now.duration_since(self.began) >= self.total {
            return Some(TransferTimeout::Total(self.total));
        }
        let is_slow = !self.is_complete && now.duration_since(self.slow_since) >= self.timeout;
        is_slow.then_some(TransferTimeout::Slow(self.timeout))
    }

    /// Returns the time until the next timeout, unless a report arrives.
    pub(crate) fn rest(&self, now: Instant) -> Duration {
        let total = self.total.saturating_sub(now.duration_since(self.began));
        let since = match self.is_complete {
            true => now,
            false => self.slow_since,
        };
        total.min(self.timeout.saturating_sub(now.duration_since(since)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns the timeout that has passed after one report a second, for a number of seconds.
    fn after(seconds: u32, bytes_a_second: u64) -> Option<TransferTimeout> {
        let began = Instant::now();
        let mut limit = SpeedLimit::new(10 * SECOND, 100 * SECOND, began);
        (1..=seconds).find_map(|second| {
            let now = began + second * SECOND;
            limit.update(
                ProgressReport::Received(u64::from(second) * bytes_a_second),
                now,
            );
            limit.passed(now)
        })
    }

    #[test]
    fn what_is_fast_enough_may_take_long() {
        assert_eq!(after(99, 1_000), None);
        assert_eq!(
            after(200, 1_000),
            Some(TransferTimeout::Total(100 * SECOND))
        );
    }

    #[test]
    fn what_is_slow_ends_early() {
        for bytes_a_second in [0, 10, 999] {
            let slow = Some(TransferTimeout::Slow(10 * SECOND));
            assert_eq!(after(20, bytes_a_second), slow);
        }
    }

    #[test]
    fn what_has_arrived_is_processed_without_a_limit_of_speed() {
        let began = Instant::now();
        let mut limit = SpeedLimit::new(10 * SECOND, 100 * SECOND, began);
        limit.update(ProgressReport::Received(1), began);
        limit.update(ProgressReport::Complete, began);
        assert_eq!(limit.passed(began + 50 * SECOND), None);
        assert_eq!(limit.rest(began + 50 * SECOND), 10 * SECOND);
        // Another download begins.
        limit.update(ProgressReport::Received(2), began + 50 * SECOND);
        assert_eq!(limit.passed(began + 59 * SECOND), None);
        let slow = Some(TransferTimeout::Slow(10 * SECOND));
        assert_eq!(limit.passed(began + 60 * SECOND), slow);
    }
}
