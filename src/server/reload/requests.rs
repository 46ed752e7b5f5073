//! Requests to the reload loop: from operators, hooks and registrations.
//!
//! A request that arrives during a reload is served by the next.

use tokio::sync::{mpsc, oneshot};

use super::outcome::ReloadReport;

/// The requesting end of a reload loop.
#[derive(Debug, Clone)]
pub(crate) struct Reloads(mpsc::Sender<ReloadRequest>);

/// A request to the reload loop, which may wait for its report.
#[derive(Debug)]
pub(crate) enum ReloadRequest {
    /// Someone requests a reload: the latest is fetched first, and loaded whatever its earlier
    /// outcome.
    Reload(oneshot::Sender<ReloadReport>),
    /// The remote may have a newer table. The hint is unverified, so nothing that was to be tried
    /// later is tried now.
    Fetch,
    /// A check of what is already on this machine, without a fetch.
    Look(oneshot::Sender<ReloadReport>),
}

impl ReloadRequest {
    /// Returns the sender of the report, if one is awaited.
    pub(super) fn waiting(self) -> Option<oneshot::Sender<ReloadReport>> {
        match self {
            Self::Reload(waiting) | Self::Look(waiting) => Some(waiting),
            Self::Fetch => None,
        }
    }
}

/// Returns both ends of the channel for reload requests.
pub(crate) fn channel() -> (Reloads, mpsc::Receiver<ReloadRequest>) {
    let (sender, receiver) = mpsc::channel(16);
    (Reloads(sender), receiver)
}

impl Reloads {
    /// Requests a fetch without waiting for it.
    pub(crate) fn hint(&self) {
        // If there is no room, others are waiting, and one fetch serves all.
        let _ = self.0.try_send(ReloadRequest::Fetch);
    }

    /// Waits for a reload that begins after this call; `None` if the server was dropped.
    pub(crate) async fn now(&self) -> Option<ReloadReport> {
        let (sender, report) = oneshot::channel();
        self.0.send(ReloadRequest::Reload(sender)).await.ok()?;
        report.await.ok()
    }

    /// Waits for a check, without a fetch, that begins after this call.
    pub(crate) async fn look(&self) {
        let (sender, report) = oneshot::channel();
        // They fail only if the server was dropped.
        if self.0.send(ReloadRequest::Look(sender)).await.is_ok() {
            let _ = report.await;
        }
    }
}
