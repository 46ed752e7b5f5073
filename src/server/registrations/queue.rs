//! The queue of registrations and edits, and its worker, which takes all waiting ones together.
//!
//! While one group is pushed the next one gathers, so the slower the remote, the larger the groups.
//! Clients are answered once the push has succeeded and the change is live here.
//!
//! Invariants: the number of waiting changes is bounded, in all and for each owner; a client that
//! disconnects before the answer does not stop its change; owners take turns, so that none delays
//! the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};
use tracing::{info, warn};

use crate::mapping::Timestamp;
use crate::registry::{
    CommittedTable, PublishedGroup, Registrar, RegistrarError, Submission, SubmittedChange,
};

use super::existing_link::ExistingLink;
use super::idempotency::Ticket;
use super::outcome;
use super::places::{NoPlace, QueuePlaces, TakenPlace};
use super::problem_type::ProblemType;
use super::response::ApiResponse;
use crate::git::chain;
use crate::server::fleet::{Fleet, PlaceKind};
use crate::server::reload::{Reloads, in_background};
use crate::server::state::{Shared, Snapshot};

/// The maximum number of waiting changes.
const MAX_WAITING: usize = 1024;

/// The maximum number of waiting changes of one owner.
const MAX_OF_OWNER: usize = 256;

/// The maximum number of changes in one group.
const MAX_GROUP: usize = 256;

/// How long to wait for the next change of a client that was just answered, while others wait.
const NEXT: Duration = Duration::from_millis(1);

/// The sending end of the queue.
pub(super) struct RegistrationQueue {
    sender: mpsc::UnboundedSender<QueuedRequest>,
    places: QueuePlaces,
}

/// A waiting registration or edit.
pub(super) struct QueuedRequest {
    submission: Submission,
    existing: ExistingLink,
    ticket: Option<Ticket>,
    reply: oneshot::Sender<ApiResponse>,
    _place: TakenPlace,
}

/// The receiving end of the queue, and its worker.
pub(super) struct Worker {
    jobs: mpsc::UnboundedReceiver<QueuedRequest>,
    registrar: Arc<Mutex<Registrar>>,
    /// The last error, so that it is logged only once.
    reported: Option<String>,
}

/// The clients that may send their next change soon.
struct Expected {
    /// The number of changes that will be waiting then.
    count: usize,
    until: Instant,
}

impl Expected {
    /// Expects so many for a quarter of the time that the last group took, which began then.
    fn after(began: Instant, count: usize) -> Self {
        Self {
            count: count.min(MAX_GROUP),
            until: Instant::now() + began.elapsed() / 4,
        }
    }
}

/// Returns both ends of a queue.
pub(super) fn queue(registrar: Arc<Mutex<Registrar>>) -> (RegistrationQueue, Worker) {
    let (sender, jobs) = mpsc::unbounded_channel();
    let queue = RegistrationQueue {
        sender,
        places: QueuePlaces::new(PlaceKind::Change, MAX_WAITING, MAX_OF_OWNER),
    };
    let worker = Worker {
        jobs,
        registrar,
        reported: None,
    };
    (queue, worker)
}

impl RegistrationQueue {
    /// Adds a change to the queue; the answer is sent to the returned receiver, unless the
    /// server ends before.
    ///
    /// # Errors
    ///
    /// Fails if there is no room for it.
    pub(super) async fn put(
        &self,
        fleet: Option<&Fleet>,
        change: SubmittedChange,
        by: Arc<str>,
        existing: ExistingLink,
        ticket: Option<Ticket>,
    ) -> Result<oneshot::Receiver<ApiResponse>, ProblemType> {
        let place = self.places.take_in(fleet, &by).await;
        let place = place.map_err(|none| match none {
            NoPlace::OfOwner => ProblemType::TooMany,
            NoPlace::AtAll => ProblemType::Full,
        })?;
        let (reply, answer) = oneshot::channel();
        let job = QueuedRequest {
            submission: Submission { change, by },
            existing,
            ticket,
            reply,
            _place: place,
        };
        self.sender.send(job).map_err(|_| ProblemType::Full)?;
        Ok(answer)
    }
}

impl QueuedRequest {
    fn answer(self, answer: ApiResponse) {
        if let Some(ticket) = self.ticket {
            ticket.answered(&answer);
        }
        // The client may have disconnected.
        let _ = self.reply.send(answer);
    }
}

impl Worker {
    /// Applies the waiting changes, group by group, until all senders are dropped.
    pub(super) async fn run(mut self, shared: Arc<Shared>, reloads: Reloads) {
        let mut waiting = Vec::new();
        let mut size = MAX_GROUP;
        let mut expected = Expected::after(Instant::now(), 0);
        loop {
            if waiting.is_empty() && self.jobs.recv_many(&mut waiting, MAX_WAITING).await == 0 {
                return;
            }
            gather(&mut self.jobs, &mut waiting, &expected).await;
            let began = Instant::now();
            let jobs = group(&mut waiting, size);
            let count = jobs.len();
            let submissions: Vec<_> = jobs.iter().map(|job| job.submission.clone()).collect();
            let registrar = Arc::clone(&self.registrar);
            let served = Arc::clone(&shared);
            let registering = in_background(move || {
                // After a panic it begins with a fetch, as after an error.
                let mut registrar = registrar.lock().unwrap_or_else(PoisonError::into_inner);
                let live = served.live.load_full().as_deref().and_then(committed);
                let offer = |proved| served.live.offer(proved);
                registrar.publish(&submissions, live.as_ref(), offer)
            });
            let registered = registering.await;
            // Before those in the group are answered, and may be followed by others.
            let all = count + waiting.len() + self.jobs.len();
            match registered {
                Ok(Ok(decided)) => {
                    self.reported = None;
                    let left = conclude(jobs, decided, &shared, &reloads).await;
                    // If some are invalid, smaller groups find them in fewer rounds.
                    size = match left.len() {
                        0 => MAX_GROUP.min(size * 2),
                        left => (count - left).max(1),
                    };
                    waiting.splice(0..0, left);
                }
                Ok(Err(error)) => {
                    let kind = self.report(&error);
                    jobs.into_iter().for_each(|job| job.answer(kind.answer()));
                }
                Err(_) => {
                    let failed = ProblemType::Failed.answer();
                    jobs.into_iter().for_each(|job| job.answer(failed.clone()));
                }
            }
            expected = Expected::after(began, all);
        }
    }

    /// Logs why nothing could be registered, once, and returns the problem for clients.
    fn report(&mut self, error: &RegistrarError) -> ProblemType {
        let text = chain(error);
        if self.reported.as_ref() != Some(&text) {
            warn!(error = text, "cannot register");
        }
        self.reported = Some(text);
        ProblemType::of_registrar(error)
    }
}

/// Takes all waiting jobs, and as long as they come, the next ones of clients that were just answered:
/// else these would form a group of their own each time.
async fn gather(
    jobs: &mut mpsc::UnboundedReceiver<QueuedRequest>,
    waiting: &mut Vec<QueuedRequest>,
    expected: &Expected,
) {
    loop {
        while let Ok(job) = jobs.try_recv() {
            waiting.push(job);
        }
        if waiting.len() >= expected.count || Instant::now() >= expected.until {
            return;
        }
        match timeout(NEXT, jobs.recv()).await {
            Ok(Some(job)) => waiting.push(job),
            Ok(None) | Err(_) => return,
        }
    }
}

/// Returns the live table with its commit, if it is exactly that of a commit.
fn committed(live: &Snapshot) -> Option<CommittedTable> {
    let commit = live.revision.commit().filter(|_| !live.revision.is_dirty());
    Some(CommittedTable {
        commit: commit?,
        compiled: live.compiled.clone(),
    })
}

/// Takes a group from the waiting jobs: one of each owner in turn, each owner's in order.
fn group(waiting: &mut Vec<QueuedRequest>, size: usize) -> Vec<QueuedRequest> {
    let mut turns = HashMap::new();
    let in_turn = waiting.drain(..).map(|job| {
        let turn = turns.entry(Arc::clone(&job.submission.by)).or_insert(0);
        *turn += 1;
        (*turn, job)
    });
    let mut in_turn: Vec<(usize, QueuedRequest)> = in_turn.collect();
    in_turn.sort_by_key(|(turn, _)| *turn);
    let mut group: Vec<_> = in_turn.into_iter().map(|(_, job)| job).collect();
    *waiting = group.split_off(size.min(group.len()));
    group
}

/// Waits until the outcomes are live, and answers; returns the jobs that must be tried again.
async fn conclude(
    jobs: Vec<QueuedRequest>,
    decided: PublishedGroup,
    shared: &Shared,
    reloads: &Reloads,
) -> Vec<QueuedRequest> {
    let PublishedGroup { outcomes, commit } = decided;
    let done = outcomes.iter().flatten().filter(|it| it.is_done()).count();
    if done > 0 {
        info!(done, %commit, "registered or edited");
        if let Some(fleet) = &shared.fleet {
            fleet.announce(Some(commit.to_string()));
        }
    }
    reloads.look().await;
    shared.live.withdraw();
    let live = shared.live.load_full();
    let now = Timestamp::from(SystemTime::now());
    let mut left = Vec::new();
    for (job, outcome) in jobs.into_iter().zip(outcomes) {
        match outcome {
            Some(outcome) => {
                let answer = outcome::answer(outcome, &job.existing, live.as_deref(), commit, now);
                job.answer(answer);
            }
            None => left.push(job),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::RegistrationRequest;

    fn job(places: &QueuePlaces, by: &str, url: &str) -> QueuedRequest {
        QueuedRequest {
            submission: Submission {
                change: SubmittedChange::Registration(RegistrationRequest {
                    url: url.to_owned(),
                    ..RegistrationRequest::default()
                }),
                by: by.into(),
            },
            existing: ExistingLink::default(),
            ticket: None,
            reply: oneshot::channel().0,
            _place: places.take(&by.into()).ok().unwrap(),
        }
    }

    #[tokio::test]
    async fn those_that_were_just_answered_are_waited_for_briefly() {
        let places = QueuePlaces::new(PlaceKind::Change, 100, 100);
        let (sender, mut jobs) = mpsc::unbounded_channel();
        let send = |url| assert!(sender.send(job(&places, "ada", url)).is_ok());
        let mut waiting = vec![job(&places, "ada", "1")];
        let soon = |count| Expected {
            count,
            until: Instant::now() + Duration::from_secs(600),
        };
        send("2");
        // The third is sent while it is waited for.
        let expected = soon(3);
        let next = async { send("3") };
        tokio::join!(gather(&mut jobs, &mut waiting, &expected), next);
        assert_eq!(waiting.len(), 3);
        // None comes.
        gather(&mut jobs, &mut waiting, &soon(4)).await;
        assert_eq!(waiting.len(), 3);
        let late = Expected {
            count: 4,
            until: Instant::now(),
        };
        let next = async { send("4") };
        tokio::join!(gather(&mut jobs, &mut waiting, &late), next);
        assert_eq!(waiting.len(), 3);
    }

    #[test]
    fn owners_have_their_turns() {
        let places = QueuePlaces::new(PlaceKind::Change, 100, 100);
        let all = [
            ("ada", "1"),
            ("ada", "2"),
            ("ada", "3"),
            ("bob", "4"),
            ("bob", "5"),
        ];
        let mut waiting: Vec<_> = (all.into_iter())
            .map(|(by, url)| job(&places, by, url))
            .collect();
        let mut urls = |size| {
            let group = group(&mut waiting, size);
            let urls = group.into_iter().map(|it| match it.submission.change {
                SubmittedChange::Registration(request) => request.url,
                SubmittedChange::Edit(edit) => edit.link,
            });
            urls.collect::<Vec<_>>().concat()
        };
        assert_eq!([urls(3), urls(1), urls(9), urls(9)], ["142", "5", "3", ""]);
    }
}
