//! Whether the server can be used: a circuit breaker. No request contacts a server that failed the last
//! time; only `session.rs` does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use prometheus::{IntCounterVec, IntGauge, Opts, Registry};
use serde::Serialize;
use tokio::sync::Notify;
use tracing::{info, warn};

use crate::valkey::CallError;

/// The maximum number of reported characters of an error: a server may send anything.
const MAX_ERROR: usize = 200;

/// Whether the server can be used, and since when it cannot.
pub(super) struct FleetHealth {
    /// Whether messages arrive.
    is_subscribed: AtomicBool,
    /// Whether it also accepts writes.
    is_usable: AtomicBool,
    /// Notified when an operation has failed.
    doubted: Notify,
    /// Why it cannot be used.
    error: Mutex<Option<String>>,
    up: IntGauge,
    hints: IntCounterVec,
}

/// The state of the fleet, for operators; it contains no secret.
#[derive(Serialize)]
pub(crate) struct FleetView {
    pub(super) name: String,
    pub(super) server: String,
    pub(super) up: bool,
    /// Why its server cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

/// The direction of a hint.
#[derive(Debug, Clone, Copy)]
pub(super) enum Direction {
    Sent,
    Received,
}

impl Direction {
    const ALL: [Self; 2] = [Self::Sent, Self::Received];

    fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
        }
    }
}

impl Default for FleetHealth {
    fn default() -> Self {
        let help = "Whether the server that the fleet shares can be used.";
        let up = IntGauge::new("waypost_fleet_up", help);
        let help = "Hints to look at the source, sent to and received from other replicas.";
        let options = Opts::new("waypost_fleet_hints_total", help);
        let hints = IntCounterVec::new(options, &["direction"]);
        let hints = hints.expect("the name and label are literals");
        for direction in Direction::ALL {
            hints.with_label_values(&[direction.as_str()]);
        }
        Self {
            is_subscribed: AtomicBool::new(false),
            is_usable: AtomicBool::new(false),
            doubted: Notify::new(),
            error: Mutex::new(None),
            up: up.expect("the name is a literal"),
            hints,
        }
    }
}

impl FleetHealth {
    pub(super) fn is_usable(&self) -> bool {
        self.is_usable.load(Ordering::Relaxed)
    }

    pub(super) fn is_subscribed(&self) -> bool {
        self.is_subscribed.load(Ordering::Relaxed)
    }

    pub(super) fn set_subscribed(&self, is_subscribed: bool) {
        self.is_subscribed.store(is_subscribed, Ordering::Relaxed);
    }

    /// Stops requests from using the server until it was checked, because an operation has failed.
    pub(super) fn doubt(&self) {
        self.is_usable.store(false, Ordering::Relaxed);
        self.doubted.notify_one();
    }

    /// Waits until an operation has failed.
    pub(super) async fn doubted(&self) {
        self.doubted.notified().await;
    }

    /// Records the result of a check, and logs when an outage begins and ends, once each.
    pub(super) fn checked(&self, result: &Result<(), CallError>) {
        let mut known = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(()) => {
                if known.take().is_some() {
                    info!("using the server of the fleet again");
                }
            }
            Err(error) => {
                let error = shown(error);
                if known.is_none() {
                    warn!(error, "cannot use the server of the fleet, working alone");
                }
                *known = Some(error);
            }
        }
        let is_usable = result.is_ok();
        self.up.set(i64::from(is_usable));
        self.is_usable.store(is_usable, Ordering::Relaxed);
    }

    pub(super) fn error(&self) -> Option<String> {
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        error.clone()
    }

    pub(super) fn count(&self, direction: Direction) {
        self.hints.with_label_values(&[direction.as_str()]).inc();
    }

    pub(super) fn register(&self, registry: &Registry) {
        for collector in [
            Box::new(self.up.clone()) as Box<dyn prometheus::core::Collector>,
            Box::new(self.hints.clone()),
        ] {
            (registry.register(collector)).expect("each name is registered once");
        }
    }
}

/// Returns an error on one line of limited length.
fn shown(error: &CallError) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text = match error {
        CallError::Refused(cause) => format!("{error}: {cause}"),
        // It may be running, but full or read-only.
        CallError::Unavailable(cause) | CallError::Failed(cause) => cause.to_string(),
    };
    text.chars().map(plain).take(MAX_ERROR).collect()
}

#[cfg(test)]
mod tests {
    use std::io;

    use redis::RedisError;

    use super::*;

    fn failure(text: &str) -> CallError {
        RedisError::from(io::Error::other(text)).into()
    }

    #[tokio::test]
    async fn an_operation_that_fails_closes_it_until_it_was_checked() {
        let health = FleetHealth::default();
        assert!(!health.is_usable(), "before the first check");
        health.checked(&Ok(()));
        assert!(health.is_usable());
        health.doubt();
        assert!(!health.is_usable());
        health.doubted().await;
        health.checked(&Err(failure("lost")));
        assert!(!health.is_usable() && health.error().unwrap().contains("lost"));
        health.checked(&Ok(()));
        assert!(health.is_usable() && health.error().is_none());
    }

    #[test]
    fn an_error_is_one_short_line() {
        let shown = shown(&failure(&"x\n".repeat(500)));
        assert_eq!(shown.chars().count(), MAX_ERROR);
        assert!(!shown.contains('\n'));
    }
}
