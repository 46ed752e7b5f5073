//! A check from its start to the end: queueing the links, and visiting hosts.

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

use super::shared::Checker;
use super::visit::{BUSY_TIMEOUT, Visit};
use crate::frontier::{Reservation, StoreError};

/// How often expired leases are ended, and the longest time without an attempted reservation.
const REAPING: Duration = Duration::from_secs(10);

/// How often links that another worker has taken from the queue are queued again.
const QUEUEING: Duration = Duration::from_secs(600);

/// How many reservations are attempted at a time.
const MAX_ATTEMPTS: usize = 64;

/// The longest block that a run waits for.
const MAX_BLOCK: Duration = Duration::from_secs(60);

/// When a check ends on its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckEnd {
    /// When nothing is due.
    NothingDue,
    /// Never.
    Never,
}

/// Tasks whose results are awaited.
type Tasks<T> = JoinSet<Result<T, StoreError>>;

impl Checker {
    /// Sends all requests that are due, and ends when no host has anything due queued or leased, by
    /// any worker, or after the longest time. It does not wait for blocks of more than a minute.
    ///
    /// While the state cannot be reached, it waits.
    ///
    /// # Errors
    ///
    /// If the state cannot be read or written. What was concluded before is kept.
    pub async fn run(self: &Arc<Self>) -> Result<(), StoreError> {
        self.run_within(self.options().max_time).await
    }

    /// Does what [`run`](Self::run) does, for as long as that time at most.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub(super) async fn run_within(
        self: &Arc<Self>,
        max_time: Option<Duration>,
    ) -> Result<(), StoreError> {
        let stop = async move {
            match max_time {
                Some(max_time) => sleep(max_time).await,
                None => pending().await,
            }
        };
        self.check(CheckEnd::NothingDue, stop).await
    }

    /// Sends requests as they become due, until `stop` is done. Then requests in flight are cut
    /// off, and their hosts are released.
    ///
    /// While the state cannot be reached, it waits.
    ///
    /// # Errors
    ///
    /// If the state cannot be read or written. What was concluded before is kept.
    pub async fn watch(self: &Arc<Self>, stop: impl Future<Output = ()>) -> Result<(), StoreError> {
        match self.check(CheckEnd::Never, stop).await {
            // The leases that could not be released expire.
            Err(StoreError::Unavailable(_)) if self.access().is_stopping() => Ok(()),
            result => result,
        }
    }

    async fn check(
        self: &Arc<Self>,
        end: CheckEnd,
        stop: impl Future<Output = ()>,
    ) -> Result<(), StoreError> {
        self.access().set_stopping(false);
        let stopping = async {
            stop.await;
            self.access().set_stopping(true);
            pending().await
        };
        tokio::select! {
            biased;
            result = self.work(end) => result,
            result = stopping => result,
        }
    }

    /// Works until the end, or until the check is to stop.
    async fn work(self: &Arc<Self>, end: CheckEnd) -> Result<(), StoreError> {
        let access = self.access();
        tokio::select! {
            queued = self.queue_links() => drop(queued?),
            () = access.stopped() => return Ok(()),
        }
        let mut run = CheckRun::new(self);
        loop {
            let is_stopping = access.is_stopping();
            run.end_idling();
            if !is_stopping {
                run.begin_attempts();
            }
            let is_at_end = end == CheckEnd::NothingDue && run.review.is_empty();
            if run.attempts.is_empty()
                && run.visits.is_empty()
                && (is_stopping || (is_at_end && self.is_done().await?))
            {
                return Ok(());
            }
            let wake = run.wake();
            tokio::select! {
                Some(attempt) = run.attempts.join_next() => match finished(attempt) {
                    Ok((since, reservation)) => run.take(since, reservation),
                    // Other leases are still to be released.
                    Err(StoreError::Unavailable(_)) if is_stopping => {}
                    Err(error) => return Err(error),
                },
                Some(visit) = run.visits.join_next() => {
                    finished(visit)?;
                    run.become_due();
                }
                Some(done) = run.upkeep.join_next() => finished(done)?,
                Some(done) = run.review.join_next() => finished(done)?,
                () = self.queued.notified() => run.become_due(),
                () = access.stopped(), if !is_stopping => {}
                () = sleep_until(wake) => run.begin_upkeep(),
            }
        }
    }

    /// Returns whether nothing is due, except on hosts with long blocks.
    async fn is_done(&self) -> Result<bool, StoreError> {
        let is_due = async || Ok(self.access().due(MAX_BLOCK).await? > 0);
        // Checked again at the end: another worker may have queued missing links.
        Ok(!is_due().await? && self.queue_again().await? == 0 && !is_due().await?)
    }

    /// Queues the links that a worker with another table has taken from the queue, and returns how
    /// many there were.
    async fn queue_again(&self) -> Result<usize, StoreError> {
        match self.access().is_shared() {
            true => self.queue_links().await,
            false => Ok(0),
        }
    }
}

/// The tasks of a check, and when the next ones begin.
struct CheckRun {
    checker: Arc<Checker>,
    attempts: Tasks<(u64, Reservation)>,
    visits: Tasks<()>,
    upkeep: Tasks<()>,
    review: Tasks<()>,
    /// Until when no reservation is attempted.
    idle_until: Option<Instant>,
    reaping: Instant,
    queueing: Instant,
    /// How many reservations may be attempted at once.
    at_a_time: usize,
    /// Counts the times when something may have become due: an earlier result that nothing is due
    /// is then outdated.
    changes: u64,
}

impl CheckRun {
    fn new(checker: &Arc<Checker>) -> Self {
        let now = Instant::now();
        let mut review: Tasks<()> = JoinSet::new();
        let reviewing = Arc::clone(checker);
        review.spawn(async move { reviewing.review_queue().await });
        Self {
            checker: Arc::clone(checker),
            attempts: JoinSet::new(),
            visits: JoinSet::new(),
            upkeep: JoinSet::new(),
            review,
            idle_until: None,
            // Immediately: a worker may have just died.
            reaping: now,
            queueing: now + QUEUEING,
            at_a_time: 1,
            changes: 0,
        }
    }

    /// Notices that something is due now.
    fn end_idling(&mut self) {
        let now = Instant::now();
        self.idle_until = self.idle_until.filter(|until| *until > now);
    }

    /// Attempts as many reservations as there is room for, unless nothing is due yet.
    fn begin_attempts(&mut self) {
        if self.idle_until.is_some() {
            return;
        }
        let concurrency = self.checker.options().concurrency.max(1);
        while self.attempts.len() < self.at_a_time
            && self.attempts.len() + self.visits.len() < concurrency
        {
            let (checker, changes) = (Arc::clone(&self.checker), self.changes);
            self.attempts.spawn(async move {
                let reservation = checker.access().reserve_next(BUSY_TIMEOUT).await?;
                Ok((changes, reservation))
            });
        }
    }

    /// Takes the reservation of an attempt that began after so many changes.
    fn take(&mut self, since: u64, reservation: Reservation) {
        let wait = match reservation {
            Reservation::Leased(lease) => {
                self.at_a_time = (self.at_a_time * 2).min(MAX_ATTEMPTS);
                let checker = Arc::clone(&self.checker);
                self.visits
                    .spawn(async move { Visit::new(&checker, &lease).run().await });
                return;
            }
            // Links that another worker queues are noticed earlier.
            Reservation::Wait(wait) => wait.min(REAPING),
            _ => REAPING,
        };
        self.at_a_time = 1;
        if since == self.changes {
            let until = Instant::now() + wait;
            self.idle_until = Some(self.idle_until.map_or(until, |it| it.min(until)));
        }
    }

    /// Records that something may have become due.
    fn become_due(&mut self) {
        self.changes += 1;
        self.idle_until = None;
    }

    /// Returns when there is something to do, whatever the tasks do.
    fn wake(&self) -> Instant {
        let upkeep = self.reaping.min(self.queueing);
        self.idle_until.map_or(upkeep, |until| until.min(upkeep))
    }

    /// Begins the upkeep that is due.
    fn begin_upkeep(&mut self) {
        let now = Instant::now();
        if self.reaping <= now {
            self.reaping = now + REAPING;
            let checker = Arc::clone(&self.checker);
            self.upkeep
                .spawn(async move { checker.access().reap().await.map(drop) });
        }
        if self.queueing <= now {
            self.queueing = now + QUEUEING;
            let checker = Arc::clone(&self.checker);
            self.upkeep
                .spawn(async move { checker.queue_again().await.map(drop) });
        }
    }
}

/// Returns the result of a task; a panic is continued here.
fn finished<T>(task: Result<Result<T, StoreError>, JoinError>) -> Result<T, StoreError> {
    match task {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(StoreError::Failed(error.into())),
        },
    }
}
