//! Reloading: look at the source, build aside, validate wholly, swap once.
//!
//! One loop does all of it, so reloads never overlap, and whatever asks for one while one runs is
//! served by the next. Reading and compiling happen on threads of their own. The certificate is
//! looked at in the same beat.
//!
//! A file that may be in the middle of a write is no failure, and nobody waits for it in the loop but
//! a person who asked: all is as it was, and it is looked at again as soon as it may be complete.
//!
//! Invariants: whatever goes wrong, the live table stays; bytes that were compiled last are not
//! compiled again; a problem is logged once, not at every poll.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::sleep;
use tracing::{error, info, warn};

use crate::mapping::{Compilation, Table, Timestamp, compile};
use crate::source::{Fingerprint, Reading, Revision, SourceError};

use super::background::in_background;
use crate::server::state::{LastError, LastReload, LoadError, Reloaded, Shared, Snapshot, Source};

/// How many diagnostics of one rejected table are logged; the status shows all.
const LOGGED: usize = 20;

/// How often to look whether the last request has let go of a table that was replaced.
const RETIRING: Duration = Duration::from_millis(10);

/// How long a start, or a person who asked, waits for files that may be in the middle of a write:
/// longer than an unfinished line needs to rest.
const SETTLING: Duration = Duration::from_secs(12);

/// How one look at the source ended, for whoever asked for it.
#[derive(Debug, Clone)]
pub(crate) enum Report {
    /// What the source holds is live.
    Live(Reloaded),
    /// What the source holds cannot go live.
    Refused(Arc<LoadError>),
}

/// The asking end of a reload loop.
#[derive(Debug, Clone)]
pub(crate) struct Reloads(mpsc::Sender<Asked>);

/// Someone who asked for a reload, and may wait for its report.
#[derive(Debug)]
pub(crate) enum Asked {
    /// Someone requests a reload: what is afar is brought first, and loaded whatever became of it
    /// before.
    Reload(oneshot::Sender<Report>),
    /// What is afar may be newer. Nobody vouches for that, so nothing is tried for it that was to
    /// wait.
    Fetch,
    /// What is here shall be looked at.
    Look(oneshot::Sender<Report>),
}

impl Asked {
    /// Returns who waits.
    fn waiting(self) -> Option<oneshot::Sender<Report>> {
        match self {
            Self::Reload(waiting) | Self::Look(waiting) => Some(waiting),
            Self::Fetch => None,
        }
    }
}

/// Returns both ends of the way to ask for reloads.
pub(crate) fn channel() -> (Reloads, mpsc::Receiver<Asked>) {
    let (sender, receiver) = mpsc::channel(16);
    (Reloads(sender), receiver)
}

impl Reloads {
    /// Asks for a fetch without waiting for it.
    pub(crate) fn hint(&self) {
        // If there is no room, others have asked, and one fetch serves all.
        let _ = self.0.try_send(Asked::Fetch);
    }

    /// Waits for a reload that begins after this call; `None` if the server is gone.
    pub(crate) async fn now(&self) -> Option<Report> {
        let (sender, report) = oneshot::channel();
        self.0.send(Asked::Reload(sender)).await.ok()?;
        report.await.ok()
    }

    /// Waits for a look at what is here already that begins after this call.
    pub(crate) async fn look(&self) {
        let (sender, report) = oneshot::channel();
        // They fail only if the server is gone.
        if self.0.send(Asked::Look(sender)).await.is_ok() {
            let _ = report.await;
        }
    }
}

/// The reload loop.
pub(crate) struct Reloader {
    shared: Arc<Shared>,
    source: Arc<dyn Source>,
    hints: Arc<Notify>,
    /// What the source looked like at the last reading, if that went well.
    known: Option<Fingerprint>,
    /// The warnings of the last reading, which are not logged again.
    warned: Vec<String>,
    /// After how long a file that may be in the middle of a write is looked at again.
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
                // The one that was live before, in place of a newest that cannot be.
                let ended = self.attempt().await;
                let is_live = ended.is_ok();
                self.conclude(began, ended);
                match self.source.retry() && !is_live {
                    true => self.attempt().await,
                    // The loop looks at the newest, if that is to be tried.
                    false => Err(error),
                }
            }
            ended => ended,
        }
    }

    /// Looks at the source at every hint, whenever asked, and every `poll_interval`; for ever.
    ///
    /// What was not loaded before is loaded first.
    pub(crate) async fn run(mut self, poll_interval: Duration, mut asked: mpsc::Receiver<Asked>) {
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
            // Everything that has come until now is answered by the same look.
            while let Ok(one) = asked.try_recv() {
                waiting.push(one);
            }

            let requested = waiting.iter().any(|one| matches!(one, Asked::Reload(_)));
            if let Some(tls) = &self.shared.tls {
                tls_again = tls.look(requested).await;
            }
            let began = Instant::now();
            let ended = if requested {
                self.refresh(true).await;
                // A person who asks wants to know; hooks, events and clocks only think that they do.
                self.attempt_settled().await
            } else {
                if waiting.iter().any(|one| matches!(one, Asked::Fetch)) {
                    self.refresh(false).await;
                }
                self.look().await
            };
            let ended = self.unless_unsettled(ended);
            let report = self.conclude(began, ended);
            for reply in waiting.into_iter().filter_map(Asked::waiting) {
                // Whoever asked may have left.
                let _ = reply.send(report.clone());
            }
        }
    }

    /// Brings what is afar, and if `insisting`, has it loaded whatever became of it before.
    async fn refresh(&self, insisting: bool) {
        let source = Arc::clone(&self.source);
        let refreshing = in_background(move || {
            source.refresh();
            if insisting {
                source.insist();
            }
        });
        // Whatever comes of it, what there is will be read next.
        let _ = refreshing.await;
    }

    /// Reads only if there may be something new; else all is as it was.
    async fn look(&mut self) -> Result<Reloaded, Arc<LoadError>> {
        if let Some(known) = self.known.clone() {
            let source = Arc::clone(&self.source);
            let differs = in_background(move || source.may_differ_from(&known));
            if !differs.await.map_err(LoadError::Panicked)? {
                return self.as_before();
            }
        }
        self.attempt().await
    }

    /// Returns how the last look ended.
    fn as_before(&self) -> Result<Reloaded, Arc<LoadError>> {
        match &self.shared.live.history().last_error {
            Some(last) => Err(Arc::clone(&last.error)),
            None => Ok(Reloaded::Unchanged),
        }
    }

    /// Puts how the last look ended in the place of one that found a file in the middle of a write.
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

    /// Reads, compiles and swaps, and for a while waits for files in the middle of a write.
    async fn attempt_settled(&mut self) -> Result<Reloaded, Arc<LoadError>> {
        let began = Instant::now();
        loop {
            let ended = self.attempt().await;
            let Err(error) = &ended else {
                return ended;
            };
            let LoadError::Unreadable(SourceError::Unsettled { path, again }) = &**error else {
                return ended;
            };
            let left = SETTLING.saturating_sub(began.elapsed());
            if left.is_zero() {
                let path = path.clone();
                let given_up = SourceError::StillBeingWritten { path };
                return Err(Arc::new(LoadError::Unreadable(given_up)));
            }
            // A hint may say that it was closed.
            tokio::select! {
                () = self.hints.notified() => {}
                () = sleep((*again).min(left)) => {}
            }
        }
    }

    /// Makes an attempt to load what the source holds, and lets the source know that it ended.
    async fn attempt(&mut self) -> Result<Reloaded, Arc<LoadError>> {
        let ended = self.load().await;
        let source = Arc::clone(&self.source);
        // A source that cannot take note has logged that.
        let _ = in_background(move || source.ended()).await;
        ended
    }

    /// Reads, and if there is something new, compiles and swaps.
    async fn load(&mut self) -> Result<Reloaded, Arc<LoadError>> {
        self.known = None;
        let source = Arc::clone(&self.source);
        let reading = in_background(move || source.read())
            .await
            .map_err(LoadError::Panicked)?
            .map_err(|error| LoadError::unreadable(error, &self.shared.table_limit))?;
        let Reading {
            files,
            revision,
            warnings,
            fingerprint,
        } = reading;
        self.warn_once(warnings);
        self.known = Some(fingerprint);

        if let Some(live) = &*self.shared.live.load() {
            if names_the_same(&live.revision, &revision) {
                return Ok(Reloaded::Unchanged);
            }
            if live.revision.hash() == revision.hash() {
                self.swap(Arc::clone(&live.table), revision).await;
                return Ok(Reloaded::Success);
            }
        }
        if let Some(known) = self.rejected_before(&revision) {
            return Err(known);
        }

        // What a table's own tests expect is `check`'s business.
        let Compilation {
            table, diagnostics, ..
        } = in_background(move || compile(&files))
            .await
            .map_err(LoadError::Panicked)?;
        let Some(table) = table else {
            return Err(Arc::new(LoadError::Rejected {
                revision: Box::new(revision),
                diagnostics,
            }));
        };
        let (entries, warnings) = (table.len(), diagnostics.len());
        info!(%revision, entries, warnings, "table loaded");
        self.swap(Arc::new(table), revision).await;
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

    /// Returns the error of the last look, if it was about these very bytes.
    fn rejected_before(&self, revision: &Revision) -> Option<Arc<LoadError>> {
        let history = self.shared.live.history();
        let error = &history.last_error.as_ref()?.error;
        (error.revision()?.hash() == revision.hash()).then(|| Arc::clone(error))
    }

    async fn swap(&self, table: Arc<Table>, revision: Revision) {
        self.shared.metrics.live(&table, &revision);
        let (source, accepted) = (Arc::clone(&self.source), revision.clone());
        if let Some(old) = self.shared.live.swap(Snapshot::new(table, revision)) {
            tokio::spawn(retire(old));
        }
        // That it could not be noted is the source's to tell, and no reason not to serve.
        let _ = in_background(move || source.accepted(&accepted)).await;
    }

    /// Records how a look ended, and logs it if that is new.
    fn conclude(&self, began: Instant, ended: Result<Reloaded, Arc<LoadError>>) -> Report {
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
                Report::Live(result)
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
                Report::Refused(error)
            }
        };
        drop(history);
        self.shared.metrics.reloaded(result, took, at);
        self.shared.live.notify_looked_at();
        report
    }
}

/// Returns whether two revisions are one, whatever the times of their files.
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
        let (severity, problem) = (diagnostic.severity.as_str(), &*diagnostic.message);
        error!(%place, severity, problem, hint, "in the rejected table");
    }
    if let Some(more @ 1..) = diagnostics.len().checked_sub(LOGGED) {
        error!(more, "the status shows the rest");
    }
}

/// Drops a snapshot once no request uses it any more, so that none has to free a whole table.
async fn retire(old: Arc<Snapshot>) {
    while Arc::strong_count(&old) > 1 {
        sleep(RETIRING).await;
    }
    // A panic in it would be in a destructor of plain data.
    let _ = in_background(move || drop(old)).await;
}
