//! The phases of a server's life, for code that reads the current one or waits for one.
//!
//! ```text
//! running ──▶ draining ──▶ closing ──▶ closed
//!    SIGTERM: not ready, still serving   │
//!                        no new connections, requests in flight finish
//!                                     the rest is cut off
//! ```
//!
//! Invariant: phases only ever advance.

use std::future::{Future as _, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};

use tokio::sync::watch;

/// A phase of a server's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Serving.
    Running,
    /// Serving, but no longer ready: clients should stop sending requests here.
    Draining,
    /// Finishing requests in flight.
    Closing,
    /// Done; connections that are still open are cut off.
    Closed,
}

/// The current phase.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    pub(crate) phase: watch::Sender<Phase>,
    /// The same without a lock, because every request reads it.
    draining: Arc<AtomicBool>,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self {
            phase: watch::Sender::new(Phase::Running),
            draining: Arc::default(),
        }
    }
}

impl Lifecycle {
    /// Returns whether clients should go elsewhere.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Returns a way to wait for phases.
    pub(crate) fn phases(&self) -> Phases {
        Phases {
            watch: self.phase.subscribe(),
            draining: Arc::clone(&self.draining),
        }
    }

    pub(crate) fn advance(&self, phase: Phase) {
        self.draining.store(true, Ordering::Relaxed);
        self.phase.send_replace(phase);
    }
}

/// A way to wait for phases.
#[derive(Debug)]
pub(crate) struct Phases {
    watch: watch::Receiver<Phase>,
    draining: Arc<AtomicBool>,
}

impl Phases {
    /// Waits until the server is in `phase` or later; forever if the server was dropped.
    ///
    /// A connection waits for this as well as for each of its requests. So that they do not all take the
    /// lock of one channel, the channel is polled again only from another task, or after a change.
    pub(crate) async fn reached(&mut self, phase: Phase) {
        let Self { watch, draining } = self;
        let mut heard = pin!(watch.wait_for(|now| *now >= phase));
        let mut waiting: Option<Waker> = None;
        let is_gone = poll_fn(|cx| {
            let waits = waiting
                .as_ref()
                .is_some_and(|waker| waker.will_wake(cx.waker()));
            if waits && !draining.load(Ordering::Relaxed) {
                return Poll::Pending;
            }
            waiting = Some(cx.waker().clone());
            heard.as_mut().poll(cx).map(|heard| heard.is_err())
        });
        if is_gone.await {
            pending::<()>().await;
        }
    }
}
