//! Loading: reads the source's table, compiles it, and swaps it for the live one.
//!
//! Invariants: the live table stays whatever fails; bytes that were compiled last are not compiled
//! again.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tracing::{info, warn};

use super::background::{begin, in_background};
use super::outcome::last;
use crate::mapping::compile_after;
use crate::server::state::{LoadError, Reloaded, Shared, Snapshot, Source};
use crate::source::{Fingerprint, Reading, RepositoryPlace, Revision};

/// How often to check whether the last request has released a replaced table.
const RETIRING: Duration = Duration::from_millis(10);

/// Loads the table of one source.
pub(super) struct Loader {
    shared: Arc<Shared>,
    source: Arc<dyn Source>,
    /// The source's fingerprint at the last reading, if that succeeded.
    known: Option<Fingerprint>,
    /// The warnings of the last reading, which are not logged again.
    warned: Vec<String>,
}

impl Loader {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            source: Arc::clone(&shared.source),
            known: None,
            warned: Vec::new(),
        }
    }

    /// Loads the source's table.
    pub(super) async fn load(&mut self) -> Result<Reloaded, Arc<LoadError>> {
        self.attempt(None).await
    }

    /// Loads the source's table, unless it looks as it did at the last reading: then the outcome is
    /// the last one.
    pub(super) async fn load_if_changed(&mut self) -> Result<Reloaded, Arc<LoadError>> {
        let known = self.known.take();
        self.attempt(known).await
    }

    /// Tries to load the source's table, and notifies the source when that has ended.
    async fn attempt(&mut self, known: Option<Fingerprint>) -> Result<Reloaded, Arc<LoadError>> {
        let ended = match self.read(known).await {
            Ok(None) => return last(&self.shared),
            Ok(Some(reading)) => self.apply(reading).await,
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
    async fn apply(&mut self, reading: Reading) -> Result<Reloaded, Arc<LoadError>> {
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
                self.swap(live.at(revision, self.place().await?)).await;
                return Ok(Reloaded::Success);
            }
        }
        if let Some(known) = self.rejected_before(&revision) {
            return Err(known);
        }

        let offered = self.shared.live.take_offered(&files);
        let (compiled, files) = match offered {
            Some(proved) => (proved, files),
            None => {
                let live = self.shared.live.load_full();
                // A table's own tests are the concern of `check`.
                let compiling = in_background(move || {
                    let before = live.as_ref().map(|live| &*live.table);
                    (compile_after(&files, before).into_sound(), files)
                });
                let (compiled, files) = compiling.await.map_err(LoadError::Panicked)?;
                let compiled = compiled.map_err(|diagnostics| LoadError::Rejected {
                    revision: Box::new(revision.clone()),
                    diagnostics,
                })?;
                (compiled, files)
            }
        };
        let (entries, warnings) = (compiled.table.len(), compiled.warnings.len());
        info!(%revision, entries, warnings, "table loaded");
        let place = self.place().await?;
        let making = in_background(move || Snapshot::new(compiled, &files, revision, place));
        let made = making.await;
        self.swap(made.map_err(LoadError::Panicked)?).await;
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

    /// Locates the source's table in its repository.
    async fn place(&self) -> Result<RepositoryPlace, LoadError> {
        let source = Arc::clone(&self.source);
        let place = in_background(move || source.place()).await;
        place.map_err(LoadError::Panicked)
    }

    async fn swap(&self, snapshot: Snapshot) {
        let revision = &snapshot.revision;
        self.shared.metrics.live(&snapshot.table, revision);
        let (source, accepted) = (Arc::clone(&self.source), revision.clone());
        if let Some(old) = self.shared.live.swap(snapshot) {
            tokio::spawn(retire(old));
        }
        self.sort_codes();
        // If this cannot be recorded, the source reports that; the table is served anyway.
        let _ = in_background(move || source.accepted(&accepted)).await;
    }

    /// Begins to sort the codes of the live table, if anyone may search it.
    fn sort_codes(&self) {
        if !self.shared.is_public() {
            return;
        }
        if let Some(live) = self.shared.live.load_full() {
            let (table, code_orders) = (Arc::downgrade(&live.table), Arc::clone(&live.code_orders));
            begin(move || {
                // It may have been replaced by now.
                if let Some(table) = table.upgrade() {
                    code_orders.of(&table);
                }
            });
        }
    }
}

/// Returns whether two revisions are the same, ignoring the times of their files.
fn names_the_same(one: &Revision, other: &Revision) -> bool {
    one.commit() == other.commit()
        && one.is_dirty() == other.is_dirty()
        && one.hash() == other.hash()
}

/// Drops a snapshot once no request uses it, so that no request has to free a whole table.
async fn retire(old: Arc<Snapshot>) {
    while Arc::strong_count(&old) > 1 {
        sleep(RETIRING).await;
    }
    // A panic in it would be in a destructor of plain data.
    let _ = in_background(move || drop(old)).await;
}
