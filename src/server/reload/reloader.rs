//! Reloading: check the source, build in the background, validate completely, swap once.
//!
//! One loop does all of it, so reloads never overlap, and a request that arrives during one is
//! served by the next. Reading and compiling happen on threads of their own. The certificate is
//! checked in the same cycle.
//!
//! A file that may still be being written is no failure, and the loop waits for it only if someone
//! requested a reload: otherwise nothing changes, and the file is checked again as soon as it may
//! be complete.
//!
//! Invariants: the live table stays whatever fails; bytes that were compiled last are not compiled
//! again; a problem is logged once, not at every poll.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::sleep;
use tracing::{error, info, warn};

use crate::mapping::{SoundTable, Timestamp, compile};
use crate::source::{FilesError, Fingerprint, Reading, Revision, SourceError};

use super::background::in_background;
use crate::server::state::{LastError, LastReload, LoadError, Reloaded, Shared, Snapshot, Source};

/// How many diagnostics of one rejected table are logged; the status shows all.
const LOGGED: usize = 20;

/// How often to check whether the last request has released a replaced table.
const RETIRING: Duration = Duration::from_millis(10);

/// How long a start, or a requested reload, waits for files that may still be being written: longer
/// than an unfinished line must rest.
const SETTLING: Duration = Duration::from_secs(12);

/// The outcome of one check of the source, for callers that wait for it.
#[derive(Debug, Clone)]
pub(crate) enum ReloadReport {
    /// The source's table is live.
    Live(Reloaded),
    /// The source's table cannot go live.
    Refused(Arc<LoadError>),
}

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
    fn waiting(self) -> Option<oneshot::Sender<ReloadReport>> {
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

/// How the latest revision is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refresh {
    /// It is fetched.
    Fetch,
    /// It is also loaded, whatever the outcome of an earlier attempt.
    Insist,
}

/// The reload loop.
pub(crate) struct Reloader {
    shared: Arc<Shared>,
    source: Arc<dyn Source>,
    hints: Arc<Notify>,
    /// The source's fingerprint at the last reading, if that succeeded.
    known: Option<Fingerprint>,
    /// The warnings of the last reading, which are not logged again.
    warned: Vec<String>,
    /// How long to wait before checking a file again that may still be being written.
    again: Option<Duration>,
}

impl Reloader {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let source = Arc::clone(&shared.source);
        Self {
            shared,
            hints: source.hints(),
            source,
            known: None,
            warned: Vec::new(),
            again: None,
        }
    }

    /// Loads the first table, or the one that was live before a restart.
    pub(crate) async fn load_first(&mut self) -> Result<(), LoadError> {
        let began = Instant::now();
        match self.first(began).await {
            Err(error) if self.shared.live.load().is_none() => {
                Err(Arc::into_inner(error).expect("nothing has kept the first error"))
            }
            ended => {
                self.conclude(began, ended);
                Ok(())
            }
        }
    }

    /// Makes the first attempt; one that fails may still have made a table live.
    async fn first(&mut self, began: Instant) -> Result<Reloaded, Arc<LoadError>> {
        match self.attempt_settled().await {
            Err(error) if self.source.fall_back() => {
                // The table that was live before, because the newest cannot be.
                let ended = self.attempt(None).await;
                let is_live = ended.is_ok();
                self.conclude(began, ended);
                match self.source.retry() && !is_live {
                    true => self.attempt(None).await,
                    // The loop checks the newest, if that should be tried.
                    false => Err(error),
                }
            }
            ended => ended,
        }
    }

    /// Checks the source at every hint, request and `poll_interval`, forever.
    ///
    /// If nothing was loaded before, it first makes the first load.
    pub(crate) async fn run(
        mut self,
        poll_interval: Duration,
        mut asked: mpsc::Receiver<ReloadRequest>,
    ) {
        if self.shared.live.history().last_reload.is_none() {
            let began = Instant::now();
            let ended = self.first(began).await;
            self.conclude(began, ended);
        }
        let mut tls_again = None;
        loop {
            let mut waiting = Vec::new();
            let pause = [self.again, tls_again].into_iter().flatten();
            let pause = pause.fold(poll_interval, Duration::min);
            tokio::select! {
                Some(one) = asked.recv() => waiting.push(one),
                () = self.hints.notified() => {}
                () = sleep(pause) => {}
            }
            // All requests that have arrived by now are served by the same check.
            while let Ok(one) = asked.try_recv() {
                waiting.push(one);
            }

            let requested = waiting
                .iter()
                .any(|one| matches!(one, ReloadRequest::Reload(_)));
            if let Some(tls) = &self.shared.tls {
                tls_again = match requested {
                    true => tls.reload().await,
                    false => tls.look().await,
                };
            }
            let began = Instant::now();
            let ended = if requested {
                self.refresh(Refresh::Insist).await;
                // Only an explicit request waits for unfinished files; hooks, events and timers do
                // not.
                self.attempt_settled().await
            } else {
                if waiting
                    .iter()
                    .any(|one| matches!(one, ReloadRequest::Fetch))
                {
                    self.refresh(Refresh::Fetch).await;
                }
                let known = self.known.take();
                self.attempt(known).await
            };
            let ended = self.unless_unsettled(ended);
            let report = self.conclude(began, ended);
            for reply in waiting.into_iter().filter_map(ReloadRequest::waiting) {
                // The caller may have stopped waiting.
                let _ = reply.send(report.clone());
            }
        }
    }

    /// Asks the source for its latest revision.
    async fn refresh(&self, refresh: Refresh) {
        let source = Arc::clone(&self.source);
        let refreshing = in_background(move || {
            source.refresh();
            if refresh == Refresh::Insist {
                source.prefer_newest();
            }
        });
        // Even if this fails, the current contents are read next.
        let _ = refreshing.await;
    }

    /// Returns the outcome of the last check.
    fn as_before(&self) -> Result<Reloaded, Arc<LoadError>> {
        match &self.shared.live.history().last_error {
            Some(last) => Err(Arc::clone(&last.error)),
            None => Ok(Reloaded::Unchanged),
        }
    }

    /// Replaces the outcome of a check that found an unfinished file by that of the last check.
    fn unless_unsettled(
        &mut self,
        ended: Result<Reloaded, Arc<LoadError>>,
    ) -> Result<Reloaded, Arc<LoadError>> {
        let before = self.again.take();
        self.again = ended.as_ref().err().and_then(|error| error.unsettled());
        match &ended {
            Err(error) if self.again.is_some() => {
                if before.is_none() {
                    info!(reason = error.chain(), "waiting with the next table");
                }
                self.as_before()
            }
            _ => ended,
        }
    }

    /// Reads, compiles and swaps, and for a limited time waits for unfinished files.
    async fn attempt_settled(&mut self) -> Result<Reloaded, Arc<LoadError>> {
        let began = Instant::now();
        loop {
            let ended = self.attempt(None).await;
            let Err(error) = &ended else {
                return ended;
            };
            let LoadError::Unreadable(SourceError::Files(FilesError::Unsettled { path, again })) =
                &**error
            else {
                return ended;
            };
            let left = SETTLING.saturating_sub(began.elapsed());
            if left.is_zero() {
                let path = path.clone();
                let given_up = FilesError::StillBeingWritten { path };
                return Err(Arc::new(LoadError::Unreadable(given_up.into())));
            }
            // A hint may mean that the file was closed.
            tokio::select! {
                () = self.hints.notified() => {}
                () = sleep((*again).min(left)) => {}
            }
        }
    }

    /// Tries to load the source's table, and notifies the source when that has ended.
    ///
    /// If it looks as it did at the `known` reading, the outcome is the last one.
    async fn attempt(&mut self, known: Option<Fingerprint>) -> Result<Reloaded, Arc<LoadError>> {
        let ended = match self.read(known).await {
            Ok(None) => return self.as_before(),
            Ok(Some(reading)) => self.load(reading).await,
            Err(error) => Err(Arc::new(error)),
        };
        let source = Arc::clone(&self.source);
        // A source that cannot record it has logged that.
        let _ = in_background(move || source.ended()).await;
        ended
    }

    /// Reads the source's table, unless it looks as it did at the `known` reading.
    async fn read(&mut self, known: Option<Fingerprint>) -> Result<Option<Reading>, LoadError> {
        self.known = None;
        let source = Arc::clone(&self.source);
        let reading = in_background(move || {
            let read = source.read(known.as_ref());
            (known, read)
        });
        let (known, read) = reading.await.map_err(LoadError::Panicked)?;
        let read = read.map_err(|error| LoadError::unreadable(error, &self.shared.table_limit))?;
        self.known = match &read {
            Some(reading) => Some(reading.fingerprint.clone()),
            None => known,
        };
        Ok(read)
    }

    /// Compiles and swaps what was read, if it is something new.
    async fn load(&mut self, reading: Reading) -> Result<Reloaded, Arc<LoadError>> {
        let Reading {
            files,
            revision,
            warnings,
            ..
        } = reading;
        self.warn_once(warnings);

        if let Some(live) = &*self.shared.live.load() {
            if names_the_same(&live.revision, &revision) {
                return Ok(Reloaded::Unchanged);
            }
            if live.revision.hash() == revision.hash() {
                self.swap(live.compiled.clone(), revision).await;
                return Ok(Reloaded::Success);
            }
        }
        if let Some(known) = self.rejected_before(&revision) {
            return Err(known);
        }

        let compiled = match self.shared.live.take_offered(&files) {
            Some(proved) => proved,
            // A table's own tests are the concern of `check`.
            None => in_background(move || compile(&files).into_sound())
                .await
                .map_err(LoadError::Panicked)?
                .map_err(|diagnostics| LoadError::Rejected {
                    revision: Box::new(revision.clone()),
                    diagnostics,
                })?,
        };
        let (entries, warnings) = (compiled.table.len(), compiled.warnings.len());
        info!(%revision, entries, warnings, "table loaded");
        self.swap(compiled, revision).await;
        Ok(Reloaded::Success)
    }

    fn warn_once(&mut self, warnings: Vec<String>) {
        for warning in &warnings {
            if !self.warned.contains(warning) {
                warn!(warning, "while reading the table");
            }
        }
        self.warned = warnings;
    }

    /// Returns the error of the last check, if it was about the same bytes.
    fn rejected_before(&self, revision: &Revision) -> Option<Arc<LoadError>> {
        let history = self.shared.live.history();
        let error = &history.last_error.as_ref()?.error;
        (error.revision()?.hash() == revision.hash()).then(|| Arc::clone(error))
    }

    async fn swap(&self, compiled: SoundTable, revision: Revision) {
        self.shared.metrics.live(&compiled.table, &revision);
        let (source, accepted) = (Arc::clone(&self.source), revision.clone());
        if let Some(old) = self.shared.live.swap(Snapshot::new(compiled, revision)) {
            tokio::spawn(retire(old));
        }
        // If this cannot be recorded, the source reports that; the table is served anyway.
        let _ = in_background(move || source.accepted(&accepted)).await;
    }

    /// Records the outcome of a check, and logs it if it is new.
    fn conclude(&self, began: Instant, ended: Result<Reloaded, Arc<LoadError>>) -> ReloadReport {
        let at = Timestamp::from(SystemTime::now());
        let took = began.elapsed();
        let result = match &ended {
            Ok(result) => *result,
            Err(error) => error.result(),
        };
        let mut history = self.shared.live.history();
        history.last_reload = Some(LastReload { at, took, result });
        let report = match ended {
            Ok(result) => {
                let was_bad = history.last_error.take().is_some();
                if was_bad && result == Reloaded::Unchanged {
                    info!("the source holds the live table again");
                }
                ReloadReport::Live(result)
            }
            Err(error) => {
                let known = history.last_error.take();
                let same = known.filter(|known| known.error.is_same(&error));
                let since = same.map(|known| known.since);
                if since.is_none() {
                    log(&error);
                }
                history.last_error = Some(LastError {
                    since: since.unwrap_or(at),
                    error: Arc::clone(&error),
                });
                ReloadReport::Refused(error)
            }
        };
        drop(history);
        self.shared.metrics.reloaded(result, took, at);
        self.shared.live.notify_looked_at();
        report
    }
}

/// Returns whether two revisions are the same, ignoring the times of their files.
fn names_the_same(one: &Revision, other: &Revision) -> bool {
    one.commit() == other.commit()
        && one.is_dirty() == other.is_dirty()
        && one.hash() == other.hash()
}

fn log(error: &LoadError) {
    let Some(revision) = error.revision() else {
        error!(error = error.chain(), "cannot load the table");
        return;
    };
    let diagnostics = error.diagnostics();
    let errors = diagnostics.iter().filter(|one| one.is_error()).count();
    error!(%revision, errors, "table rejected");
    for diagnostic in diagnostics.iter().take(LOGGED) {
        let (place, hint) = (&diagnostic.place, diagnostic.hint.as_deref());
        let (severity, rule) = (diagnostic.severity().as_str(), diagnostic.rule.name());
        let problem = &*diagnostic.message;
        error!(%place, severity, rule, problem, hint, "in the rejected table");
    }
    if let Some(more @ 1..) = diagnostics.len().checked_sub(LOGGED) {
        error!(more, "the status shows the rest");
    }
}

/// Drops a snapshot once no request uses it, so that no request has to free a whole table.
async fn retire(old: Arc<Snapshot>) {
    while Arc::strong_count(&old) > 1 {
        sleep(RETIRING).await;
    }
    // A panic in it would be in a destructor of plain data.
    let _ = in_background(move || drop(old)).await;
}
