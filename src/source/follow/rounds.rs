//! Running a task at intervals, and immediately on request: the loop of all fetches.
//!
//! Rounds never overlap, and all requests during one are served by the next. No caller waits for
//! longer than a round takes, or for a loop that has ended.

use std::future::Future;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::report::{Fetch, FetchResult};
use super::schedule::Schedule;
use crate::git::{CommitId, Setting, random};
use crate::mapping::Timestamp;

/// The shortest time between two rounds, regardless of requests.
const MIN_PAUSE: Duration = Duration::from_millis(200);

/// The result of a round.
#[derive(Debug)]
pub(crate) struct RoundEnd {
    pub(crate) result: FetchResult,
    pub(crate) tip: Option<CommitId>,
    pub(crate) error: Option<String>,
    /// Whether there is a commit to serve, of this round or an earlier one.
    pub(crate) keeps_commit: bool,
    /// The setting that may have to be changed because of the error.
    pub(crate) setting: Option<Setting>,
}

/// The task of each round.
pub(crate) trait Round: Send + Sync + 'static {
    fn run(&self) -> impl Future<Output = RoundEnd> + Send;
}

/// A function that is notified of each fetch, for example for metrics.
pub type FetchObserver = Arc<dyn Fn(&Fetch) + Send + Sync>;

/// A loop of rounds, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Rounds {
    shared: Arc<RoundsState>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct RoundsState {
    requested: Notify,
    progress: Mutex<RoundsProgress>,
    moved: Condvar,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct RoundsProgress {
    begun: u64,
    ended: u64,
    /// The last requested round.
    wanted: u64,
    closed: bool,
    /// The last round that ended.
    pub(crate) last: Option<Fetch>,
    /// The time of the last successful round.
    pub(crate) last_success: Option<Timestamp>,
    /// The last tip seen.
    pub(crate) tip: Option<CommitId>,
}

impl Rounds {
    /// Starts the loop with an immediate round. Must be called within a Tokio runtime.
    pub(crate) fn start(
        round: Arc<impl Round>,
        name: String,
        schedule: Schedule,
        observer: FetchObserver,
    ) -> Self {
        let shared = Arc::<RoundsState>::default();
        let closing = Closing(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            closing.0.run(&*round, &name, schedule, &observer).await;
        });
        Self { shared, task }
    }

    /// Requests a round, without waiting for it.
    pub(crate) fn request(&self) {
        self.shared.request();
    }

    /// Waits for a round that begins after this call. Blocks the thread.
    pub(crate) fn wait_for_next(&self) {
        let next = self.shared.request();
        self.shared.wait_for(next);
    }

    /// Waits until the first round has ended. Blocks the thread.
    pub(crate) fn wait_for_first(&self) {
        self.shared.wait_for(1);
    }

    pub(crate) fn progress(&self) -> RoundsProgress {
        self.shared.lock().clone()
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Releases all callers that wait for a round when there will be no more.
struct Closing(Arc<RoundsState>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.moved.notify_all();
    }
}

impl RoundsState {
    async fn run(
        &self,
        round: &impl Round,
        name: &str,
        schedule: Schedule,
        observer: &FetchObserver,
    ) {
        let mut failures: u32 = 0;
        let mut reported: Option<String> = None;
        loop {
            self.lock().begun += 1;
            let began = Instant::now();
            let ended = round.run().await;
            let fetch = Fetch {
                at: Timestamp::from(SystemTime::now()),
                took: began.elapsed(),
                result: ended.result,
                tip: ended.tip,
                error: ended.error,
                setting: ended.setting,
            };
            failures = match fetch.result.is_success() {
                true => 0,
                false => failures.saturating_add(1),
            };
            report(name, &fetch, ended.keeps_commit, &mut reported);
            observer(&fetch);
            self.keep(fetch);

            sleep(MIN_PAUSE).await;
            // The timeout and a request are both reasons for the next round.
            let _ = timeout(schedule.pause(failures, random()), self.until_requested()).await;
        }
    }

    /// Waits until someone requests a round that has yet to begin.
    async fn until_requested(&self) {
        while !self.is_wanted() {
            self.requested.notified().await;
        }
    }

    fn is_wanted(&self) -> bool {
        let progress = self.lock();
        progress.wanted > progress.begun
    }

    /// Requests the round after the last that has begun, and returns its number.
    fn request(&self) -> u64 {
        let mut progress = self.lock();
        let next = progress.begun + 1;
        progress.wanted = next;
        drop(progress);
        self.requested.notify_one();
        next
    }

    fn keep(&self, fetch: Fetch) {
        let mut progress = self.lock();
        progress.ended = progress.begun;
        if fetch.result.is_success() {
            progress.last_success = Some(fetch.at);
        }
        if fetch.tip.is_some() {
            progress.tip = fetch.tip;
        }
        progress.last = Some(fetch);
        drop(progress);
        self.moved.notify_all();
    }

    fn wait_for(&self, round: u64) {
        let progress = self.lock();
        let waiting = |progress: &mut RoundsProgress| progress.ended < round && !progress.closed;
        drop(self.moved.wait_while(progress, waiting));
    }

    fn lock(&self) -> MutexGuard<'_, RoundsProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Logs a change of the result: a problem is logged once, and so is its end.
fn report(remote: &str, fetch: &Fetch, keeps_commit: bool, reported: &mut Option<String>) {
    let tip = fetch.tip.map(|tip| tip.to_string()).unwrap_or_default();
    match &fetch.error {
        Some(error) if reported.as_ref() != Some(error) => {
            let result = fetch.result.as_str();
            match keeps_commit {
                true => warn!(
                    error,
                    remote, result, tip, "cannot follow the remote, keeping the last commit"
                ),
                false => warn!(
                    error,
                    remote, result, tip, "cannot follow the remote, and there is no earlier commit"
                ),
            }
        }
        Some(_) => {}
        None if fetch.result == FetchResult::Updated => info!(remote, tip, "fetched"),
        None if reported.is_some() => info!(remote, tip, "the remote can be followed again"),
        None => {}
    }
    reported.clone_from(&fetch.error);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::task::spawn_blocking;

    use super::*;

    #[derive(Default)]
    struct Counted(AtomicUsize);

    impl Round for Counted {
        async fn run(&self) -> RoundEnd {
            let count = self.0.fetch_add(1, Ordering::SeqCst);
            RoundEnd {
                keeps_commit: true,
                result: [FetchResult::Updated, FetchResult::Failed][count % 2],
                tip: None,
                error: (count % 2 == 1).then(|| "odd".to_owned()),
                setting: None,
            }
        }
    }

    fn start(round: Arc<impl Round>) -> Arc<Rounds> {
        let schedule = Schedule::every(Duration::from_secs(3_600));
        Arc::new(Rounds::start(
            round,
            "r".to_owned(),
            schedule,
            Arc::new(|_| ()),
        ))
    }

    #[tokio::test]
    async fn a_round_begins_at_once_and_on_request() {
        let counted = Arc::new(Counted::default());
        let rounds = start(Arc::clone(&counted));
        let waiting = Arc::clone(&rounds);
        spawn_blocking(move || {
            waiting.wait_for_first();
            assert_eq!(
                waiting.progress().last.unwrap().result,
                FetchResult::Updated
            );
            waiting.wait_for_next();
        })
        .await
        .unwrap();
        let progress = rounds.progress();
        assert_eq!(progress.last.unwrap().error.unwrap(), "odd");
        assert!(progress.last_success.is_some());
        assert_eq!(counted.0.load(Ordering::SeqCst), 2);
    }

    struct Endless;

    impl Round for Endless {
        async fn run(&self) -> RoundEnd {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn waiting_ends_with_the_loop() {
        let rounds = start(Arc::new(Endless));
        let waiting = Arc::clone(&rounds);
        let waiter = spawn_blocking(move || waiting.wait_for_first());
        rounds.task.abort();
        waiter.await.unwrap();
    }
}
