//! A check from its start to its end: queueing the links, and visiting hosts.

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

use super::shared::Checker;
use super::visit::{BUSY_TIMEOUT, Visit};
use crate::frontier::{Reservation, StoreError};

/// How often expired leases are ended, and how long no reservation is attempted at most.
const REAPING: Duration = Duration::from_secs(10);

/// How often links that another worker has taken from the queue are queued again.
const QUEUEING: Duration = Duration::from_secs(600);

/// How many reservations are attempted at a time.
const MAX_ATTEMPTS: usize = 64;

/// The longest block that a run waits for.
const MAX_BLOCK: Duration = Duration::from_secs(60);

/// When a check ends by itself.
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
    /// Asks all that is due, and ends when no host has anything due queued or leased, by any worker,
    /// or after the longest time. It waits for no block of more than a minute.
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

    /// Asks what is due, also what becomes due later, until `stop` is done. Then requests that are
    /// under way are cut off, and their hosts are released.
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
        let mut attempts: Tasks<(u64, Reservation)> = JoinSet::new();
        let mut visits: Tasks<()> = JoinSet::new();
        let mut upkeep: Tasks<()> = JoinSet::new();
        let mut review: Tasks<()> = JoinSet::new();
        let checker = Arc::clone(self);
        review.spawn(async move { checker.review_queue().await });
        let mut idle_until = None::<Instant>;
        // At once: a worker may have died just now.
        let mut reaping = Instant::now();
        let mut queueing = Instant::now() + QUEUEING;
        let mut at_a_time = 1;
        // How often something may have become due: that nothing was, before that, is out of date.
        let mut changes = 0;
        loop {
            let now = Instant::now();
            let is_stopping = access.is_stopping();
            if idle_until.is_some_and(|until| until <= now) {
                idle_until = None;
            }
            while !is_stopping
                && idle_until.is_none()
                && attempts.len() < at_a_time
                && attempts.len() + visits.len() < self.options().concurrency.max(1)
            {
                let checker = Arc::clone(self);
                attempts.spawn(async move {
                    let reservation = checker.access().reserve_next(BUSY_TIMEOUT).await?;
                    Ok((changes, reservation))
                });
            }
            let is_at_end = end == CheckEnd::NothingDue && review.is_empty();
            if attempts.is_empty()
                && visits.is_empty()
                && (is_stopping || (is_at_end && self.is_done().await?))
            {
                return Ok(());
            }
            let upkeep_at = reaping.min(queueing);
            let wake = idle_until.map_or(upkeep_at, |until| until.min(upkeep_at));
            tokio::select! {
                Some(attempt) = attempts.join_next() => match finished(attempt) {
                    Ok((_, Reservation::Leased(lease))) => {
                        at_a_time = (at_a_time * 2).min(MAX_ATTEMPTS);
                        let checker = Arc::clone(self);
                        visits.spawn(async move { Visit::new(&checker, &lease).run().await });
                    }
                    Ok((since, reservation)) => {
                        at_a_time = 1;
                        // What another worker queues is looked at before.
                        let wait = match reservation {
                            Reservation::Wait(wait) => wait.min(REAPING),
                            _ => REAPING,
                        };
                        if since == changes {
                            let until = Instant::now() + wait;
                            idle_until = Some(idle_until.map_or(until, |it| it.min(until)));
                        }
                    }
                    // Other leases are still to be released.
                    Err(StoreError::Unavailable(_)) if is_stopping => {}
                    Err(error) => return Err(error),
                },
                Some(visit) = visits.join_next() => {
                    finished(visit)?;
                    changes += 1;
                    idle_until = None;
                }
                Some(done) = upkeep.join_next() => finished(done)?,
                Some(done) = review.join_next() => finished(done)?,
                () = self.queued.notified() => {
                    changes += 1;
                    idle_until = None;
                }
                () = access.stopped(), if !is_stopping => {}
                () = sleep_until(wake) => {
                    let now = Instant::now();
                    if reaping <= now {
                        reaping = now + REAPING;
                        let checker = Arc::clone(self);
                        upkeep.spawn(async move { checker.access().reap().await.map(drop) });
                    }
                    if queueing <= now {
                        queueing = now + QUEUEING;
                        let checker = Arc::clone(self);
                        upkeep.spawn(async move { checker.queue_again().await.map(drop) });
                    }
                }
            }
        }
    }

    /// Returns whether nothing is due, but what wants to be left alone for long.
    async fn is_done(&self) -> Result<bool, StoreError> {
        let is_due = async || Ok(self.access().due(MAX_BLOCK).await? > 0);
        // Counted again at the end: another worker may have queued what was missing.
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

/// Returns the result of a task; its panic goes on here.
fn finished<T>(task: Result<Result<T, StoreError>, JoinError>) -> Result<T, StoreError> {
    match task {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(StoreError::Failed(error.into())),
        },
    }
}
