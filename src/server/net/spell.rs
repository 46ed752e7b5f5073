//! A spell: a time in which connections cannot be accepted, told once when it begins and once when
//! it is over.
//!
//! Clients that come and go let such times begin and end many times a second. One spell is over
//! only when connections were accepted and none was refused for a while, so that what clients do
//! makes at most two log lines in that while.

use std::io;
use std::time::{Duration, Instant};

use tracing::{error, info};

/// How long it must have gone well until all is well again.
const CALM: Duration = Duration::from_secs(10);

/// Whether connections of one listener can be accepted.
#[derive(Debug)]
pub(crate) struct Spells {
    /// Whose, in the log.
    listener: &'static str,
    /// When it last failed, while a spell lasts.
    last_failure: Option<Instant>,
}

impl Spells {
    pub(crate) fn of(listener: &'static str) -> Self {
        Self {
            listener,
            last_failure: None,
        }
    }

    /// Notes that a connection could not be accepted; tells whether a spell began with it.
    pub(crate) fn failed(&mut self, error: &io::Error, now: Instant) -> bool {
        let begins = self.last_failure.is_none();
        if begins {
            error!(%error, listener = self.listener, "cannot accept connections");
        }
        self.last_failure = Some(now);
        begins
    }

    /// Notes that a connection was accepted; tells whether a spell ended with it.
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
    fn flapping_is_one_spell() {
        let mut spells = Spells::of("public");
        let error = io::Error::from_raw_os_error(libc::EMFILE);
        let mut now = Instant::now();
        assert!(!spells.accepted(now));
        assert!(spells.failed(&error, now));
        for _ in 0..1000 {
            now += Duration::from_millis(100);
            assert!(!spells.accepted(now));
            assert!(!spells.failed(&error, now));
        }
        now += CALM;
        assert!(spells.accepted(now));
        assert!(!spells.accepted(now));
        assert!(spells.failed(&error, now));
    }
}
