//! Links that are sent for review with a token: one new branch each, pushed one after another.
//!
//! A client is answered once its branch is pushed. Nothing is live then: the reviewers decide.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tracing::{info, warn};

use super::places::{NoPlace, QueuePlaces, TakenPlace};
use super::problem_type::ProblemType;
use crate::git::chain;
use crate::registry::{
    Registrar, RegistrarError, RegistrationRefusal, RegistrationRequest, ReviewBranch, ReviewError,
};
use crate::server::fleet::{Fleet, PlaceKind};
use crate::server::reload::in_background;

/// The maximum number of waiting links: people send them one by one.
const MAX_WAITING: usize = 32;

/// The maximum number of waiting links of one owner.
const MAX_OF_OWNER: usize = 4;

/// How long a client waits for an answer, as for a registration.
const TIMEOUT: Duration = Duration::from_secs(55);

/// The sending end of the queue.
pub(super) struct ReviewQueue {
    sender: mpsc::UnboundedSender<QueuedLink>,
    places: QueuePlaces,
}

/// A waiting link.
struct QueuedLink {
    request: RegistrationRequest,
    by: Arc<str>,
    reply: oneshot::Sender<Result<ReviewBranch, NotSent>>,
    _place: TakenPlace,
}

/// The receiving end of the queue, and its worker.
pub(super) struct ReviewWorker {
    links: mpsc::UnboundedReceiver<QueuedLink>,
    registrar: Arc<Mutex<Registrar>>,
    /// The last error, so that it is logged only once.
    reported: Option<String>,
}

/// A link that was sent for review.
pub(crate) struct SentLink {
    pub(crate) branch: ReviewBranch,
    /// Its owner.
    pub(crate) owner: String,
}

/// Why a link was not sent for review.
#[derive(Debug)]
pub(crate) enum NotSent {
    /// The token is unknown.
    Unauthorized,
    /// The link is refused.
    Refused(RegistrationRefusal),
    /// Its URL has a private address, and those are refused here.
    Private,
    /// Too many of this owner are waiting.
    TooMany,
    /// The repository refuses the branch.
    ByRemote,
    /// It cannot be sent now.
    Unavailable,
}

/// Returns both ends of a queue.
pub(super) fn queue(registrar: Arc<Mutex<Registrar>>) -> (ReviewQueue, ReviewWorker) {
    let (sender, links) = mpsc::unbounded_channel();
    let queue = ReviewQueue {
        sender,
        places: QueuePlaces::new(PlaceKind::Proposal, MAX_WAITING, MAX_OF_OWNER),
    };
    let worker = ReviewWorker {
        links,
        registrar,
        reported: None,
    };
    (queue, worker)
}

impl ReviewQueue {
    /// Queues a link, and waits for its branch.
    pub(super) async fn send(
        &self,
        fleet: Option<&Fleet>,
        request: RegistrationRequest,
        by: Arc<str>,
    ) -> Result<ReviewBranch, NotSent> {
        let place = self.places.take_in(fleet, &by).await;
        let place = place.map_err(|none| match none {
            NoPlace::OfOwner => NotSent::TooMany,
            NoPlace::AtAll => NotSent::Unavailable,
        })?;
        let (reply, answer) = oneshot::channel();
        let link = QueuedLink {
            request,
            by,
            reply,
            _place: place,
        };
        let queued = self.sender.send(link);
        queued.map_err(|_| NotSent::Unavailable)?;
        match timeout(TIMEOUT, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(NotSent::Unavailable),
        }
    }
}

impl ReviewWorker {
    /// Sends the waiting links, one by one, until all senders are dropped.
    pub(super) async fn run(mut self) {
        while let Some(link) = self.links.recv().await {
            let registrar = Arc::clone(&self.registrar);
            let QueuedLink {
                request,
                by,
                reply,
                _place,
            } = link;
            let sending = in_background(move || {
                let registrar = registrar.lock().unwrap_or_else(PoisonError::into_inner);
                registrar.send_for_review(&request, &by)
            });
            let answer = match sending.await {
                Ok(Ok(branch)) => {
                    self.reported = None;
                    info!(known = branch.is_known, "sent a link for review");
                    Ok(branch)
                }
                Ok(Err(ReviewError::Refused(refusal))) => Err(self.refused(refusal)),
                Ok(Err(ReviewError::Registrar(error))) => Err(self.failed(&error)),
                Err(_) => Err(NotSent::Unavailable),
            };
            // The client may have disconnected.
            let _ = reply.send(answer);
        }
    }

    fn refused(&mut self, refusal: RegistrationRefusal) -> NotSent {
        match refusal {
            RegistrationRefusal::TableHasErrors(_) => {
                self.report(refusal.to_string());
                NotSent::Unavailable
            }
            refusal => NotSent::Refused(refusal),
        }
    }

    fn failed(&mut self, error: &RegistrarError) -> NotSent {
        self.report(chain(error));
        match ProblemType::of_registrar(error) {
            ProblemType::RemoteRefused => NotSent::ByRemote,
            _ => NotSent::Unavailable,
        }
    }

    fn report(&mut self, error: String) {
        if self.reported.as_ref() != Some(&error) {
            warn!(error, "cannot send a link for review");
        }
        self.reported = Some(error);
    }
}
