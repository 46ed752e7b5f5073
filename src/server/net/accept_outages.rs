//! Accept outages: periods in which connections cannot be accepted, logged once when they begin and
//! once when they end.
//!
//! Clients that come and go can start and end such periods many times a second. So an outage ends
//! only once connections have been accepted and none has failed for a while, and clients cause at
//! most two log lines in that time.

use std::io;
use std::time::{Duration, Instant};

use tracing::{error, info};

/// How long no accept may fail before an outage ends.
const CALM: Duration = Duration::from_secs(10);

/// Whether connections of one listener can be accepted.
#[derive(Debug)]
pub(crate) struct AcceptOutages {
    /// The listener's name in the log.
    listener: &'static str,
    /// When an accept last failed, during an outage.
    last_failure: Option<Instant>,
}

impl AcceptOutages {
    pub(crate) fn of(listener: &'static str) -> Self {
        Self {
            listener,
            last_failure: None,
        }
    }

    /// Records that a connection could not be accepted; returns whether an outage began with it.
    pub(crate) fn failed(&mut self, error: &io::Error, now: Instant) -> bool {
        let begins = self.last_failure.is_none();
        if begins {
            error!(%error, listener = self.listener, "cannot accept connections");
        }
        self.last_failure = Some(now);
        begins
    }

    /// Records that a connection was accepted; returns whether an outage ended with it.
    pub(crate) fn accepted(&mut self, now: Instant) -> bool {
        let ends = self
            .last_failure
            .is_some_and(|at| now.duration_since(at) >= CALM);
        if ends {
            info!(listener = self.listener, "accepting connections again");
            self.last_failure = None;
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flapping_is_one_outage() {
        let mut outages = AcceptOutages::of("public");
        let error = io::Error::from_raw_os_error(libc::EMFILE);
        let mut now = Instant::now();
        assert!(!outages.accepted(now));
        assert!(outages.failed(&error, now));
        for _ in 0..1000 {
            now += Duration::from_millis(100);
            assert!(!outages.accepted(now));
            assert!(!outages.failed(&error, now));
        }
        now += CALM;
        assert!(outages.accepted(now));
        assert!(!outages.accepted(now));
        assert!(outages.failed(&error, now));
    }
}
