//! Requests to the reload loop: from operators, hooks and registrations.
//!
//! A request that arrives during a reload is served by the next.

use tokio::sync::{mpsc, oneshot};

use super::outcome::ReloadReport;
use crate::server::fleet::Fleet;

/// The requesting end of a reload loop.
#[derive(Debug, Clone)]
pub(crate) struct Reloads {
    requests: mpsc::Sender<ReloadRequest>,
    /// The replicas that also check the source when a reload is requested here.
    fleet: Option<Fleet>,
}

/// A request to the reload loop, which may wait for its report.
#[derive(Debug)]
pub(crate) enum ReloadRequest {
    /// A requested reload: the latest revision is fetched first, and loaded whatever its earlier
    /// outcome.
    Reload(oneshot::Sender<ReloadReport>),
    /// The remote may have a newer table. The hint is unverified, so postponed attempts are not
    /// made earlier.
    Fetch,
    /// A check of the local state, without a fetch.
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
pub(crate) fn channel(fleet: Option<Fleet>) -> (Reloads, mpsc::Receiver<ReloadRequest>) {
    let (requests, receiver) = mpsc::channel(16);
    (Reloads { requests, fleet }, receiver)
}

impl Reloads {
    /// Requests a fetch without waiting for it.
    pub(crate) fn hint(&self) {
        // If the channel is full, others are waiting, and one fetch serves all.
        let _ = self.requests.try_send(ReloadRequest::Fetch);
    }

    /// Waits for a reload that begins after this call; `None` if the server was dropped.
    pub(crate) async fn now(&self) -> Option<ReloadReport> {
        if let Some(fleet) = &self.fleet {
            fleet.announce(None);
        }
        let (sender, report) = oneshot::channel();
        let request = ReloadRequest::Reload(sender);
        self.requests.send(request).await.ok()?;
        report.await.ok()
    }

    /// Waits for a check, without a fetch, that begins after this call.
    pub(crate) async fn look(&self) {
        let (sender, report) = oneshot::channel();
        let request = ReloadRequest::Look(sender);
        // They fail only if the server was dropped.
        if self.requests.send(request).await.is_ok() {
            let _ = report.await;
        }
    }
}
