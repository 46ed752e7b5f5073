//! The reload loop: checks the source at every hint, request and interval.
//!
//! One loop does all of it, so reloads never overlap. Reading and compiling happen on threads of
//! their own. The certificate is checked in the same cycle.
//!
//! A file that may be incomplete is not a failure, and the loop waits for it only during a
//! requested reload: otherwise nothing changes, and the file is checked again as soon as it may be
//! complete.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc};
use tokio::time::sleep;
use tracing::info;

use super::background::in_background;
use super::loader::Loader;
use super::outcome;
use super::requests::ReloadRequest;
use crate::server::state::{LoadError, Reloaded, Shared, Source};
use crate::source::{FilesError, SourceError};

/// How long a start, or a requested reload, waits for incomplete files: longer than the rest that
/// an unfinished line needs.
const SETTLING: Duration = Duration::from_secs(12);

/// How the latest revision is requested.
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
    loader: Loader,
    /// How long to wait before checking an incomplete file again.
    again: Option<Duration>,
}

impl Reloader {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let source = Arc::clone(&shared.source);
        Self {
            loader: Loader::new(&shared),
            shared,
            hints: source.hints(),
            source,
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
                outcome::record(&self.shared, began, ended);
                Ok(())
            }
        }
    }

    /// Makes the first attempt; one that fails may still have made a table live.
    async fn first(&mut self, began: Instant) -> Result<Reloaded, Arc<LoadError>> {
        match self.load_settled().await {
            Err(error) if self.source.fall_back() => {
                // The table that was live before, because the newest cannot be loaded.
                let ended = self.loader.load().await;
                let is_live = ended.is_ok();
                outcome::record(&self.shared, began, ended);
                match self.source.retry() && !is_live {
                    true => self.loader.load().await,
                    // The loop checks the newest, if it should be tried.
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
            outcome::record(&self.shared, began, ended);
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
            // The same check serves all requests that have arrived by now.
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
                self.load_settled().await
            } else {
                if waiting
                    .iter()
                    .any(|one| matches!(one, ReloadRequest::Fetch))
                {
                    self.refresh(Refresh::Fetch).await;
                }
                self.loader.load_if_changed().await
            };
            let ended = self.unless_unsettled(ended);
            let report = outcome::record(&self.shared, began, ended);
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

    /// Replaces the outcome of a check that found an unfinished file with that of the last check.
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
                outcome::last(&self.shared)
            }
            _ => ended,
        }
    }

    /// Reads, compiles and swaps, and for a limited time waits for unfinished files.
    async fn load_settled(&mut self) -> Result<Reloaded, Arc<LoadError>> {
        let began = Instant::now();
        loop {
            let ended = self.loader.load().await;
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
}
