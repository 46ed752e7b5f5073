//! Loading: reads the source's table, compiles it, and swaps it for the live one.
//!
//! Invariants: the live table stays, whatever fails; the bytes that were compiled last, under the
//! same paths, are not compiled again.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tracing::{info, warn};

use super::background::{LoadThread, in_background};
use super::outcome::last;
use crate::mapping::{Compilation, FirstReading, TableFile, compile_read};
use crate::server::state::{CodeOrderChanges, LoadError, Reloaded, Shared, Snapshot, Source};
use crate::source::{Earlier, Fingerprint, Reading, RepositoryPlace, Revision};

/// How often to check whether the last request has released a replaced table.
const RETIRING: Duration = Duration::from_millis(10);

/// How much of a table is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Nothing without a change; otherwise the files with other metadata.
    Changes,
    /// All files, whatever their times, but only their new pieces are kept.
    AllFiles,
    /// All text.
    AllText,
}

/// Loads the table of one source.
pub(super) struct Loader {
    shared: Arc<Shared>,
    source: Arc<dyn Source>,
    thread: LoadThread,
    /// The source's fingerprint at the last reading that succeeded.
    read: Option<Fingerprint>,
    /// Whether no later reading has failed.
    is_current: bool,
    /// The paths of the files that were rejected last.
    rejected: Vec<Arc<str>>,
    /// The warnings of the last reading, which are not logged again.
    warned: Vec<String>,
}

impl Loader {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            source: Arc::clone(&shared.source),
            thread: LoadThread::new(),
            read: None,
            is_current: false,
            rejected: Vec::new(),
            warned: Vec::new(),
        }
    }

    /// Loads the source's table; all of its files are read.
    pub(super) async fn load(&mut self) -> Result<Reloaded, Arc<LoadError>> {
        self.attempt(Extent::AllFiles).await
    }

    /// Loads the source's table, unless its metadata are those of the last reading: then the
    /// outcome is the last one.
    pub(super) async fn load_if_changed(&mut self) -> Result<Reloaded, Arc<LoadError>> {
        self.attempt(Extent::Changes).await
    }

    /// Tries to load the source's table, and notifies the source of the end.
    async fn attempt(&mut self, extent: Extent) -> Result<Reloaded, Arc<LoadError>> {
        let ended = match self.read(extent).await {
            Ok(None) => return last(&self.shared),
            Ok(Some((reading, first))) => self.apply(reading, first).await.transpose(),
            Err(error) => Some(Err(Arc::new(error))),
        };
        let ended = match ended {
            Some(ended) => ended,
            None => self.load_text().await,
        };
        let source = Arc::clone(&self.source);
        // A source that cannot record this has logged the error.
        // Not after the order of codes, which the thread of this loader may be making.
        let _ = in_background(move || source.ended()).await;
        ended
    }

    /// Loads the source's table from all of its text.
    async fn load_text(&mut self) -> Result<Reloaded, Arc<LoadError>> {
        let reading = self.read(Extent::AllText).await.map_err(Arc::new)?;
        let ended = match reading {
            Some((reading, first)) => self.apply(reading, first).await?,
            None => None,
        };
        Ok(ended.expect("all text is read, whether or not it has changed"))
    }

    /// Reads the source's table, and compiles it meanwhile if it is the first one.
    async fn read(
        &mut self,
        extent: Extent,
    ) -> Result<Option<(Reading<TableFile>, FirstReading)>, LoadError> {
        let was_current = std::mem::replace(&mut self.is_current, false);
        let source = Arc::clone(&self.source);
        let live = self.shared.live.load_full();
        let before = self.read.clone();
        let shared = Arc::clone(&self.shared);
        let reading = self.thread.begin(move || {
            let first = FirstReading::default();
            if extent == Extent::Changes
                && was_current
                && let Some(before) = &before
                && let Some(reading) = read_offered(&shared, &*source, before)
            {
                return Ok(Some((reading, first)));
            }
            let earlier = Earlier {
                table: live.as_ref().map(|live| &*live.table),
                reading: before.as_ref(),
                first: live.is_none().then_some(&first),
                trusts_times: extent == Extent::Changes,
            };
            let known = earlier.reading.filter(|_| was_current);
            let read = match extent {
                Extent::Changes => source.read(known, earlier),
                Extent::AllFiles => source.read(None, earlier),
                Extent::AllText => source.read(None, Earlier::default()),
            };
            read.map(|read| read.map(|reading| (reading, first)))
        });
        let read = reading.await.map_err(LoadError::Panicked)?;
        let read = read.map_err(|error| LoadError::unreadable(error, &self.shared.table_limit))?;
        if let Some((reading, _)) = &read {
            self.read = Some(reading.fingerprint.clone());
        }
        self.is_current = true;
        Ok(read)
    }

    /// Compiles and swaps the table that was read, if it is new; `None` if more of the text is
    /// needed.
    async fn apply(
        &mut self,
        reading: Reading<TableFile>,
        first: FirstReading,
    ) -> Result<Option<Reloaded>, Arc<LoadError>> {
        let Reading {
            files,
            revision,
            warnings,
            ..
        } = reading;
        self.warn_once(warnings);

        // A revision has the names of the files, but not their directories, which pages and
        // messages show.
        let paths: Vec<_> = files.iter().map(|file| Arc::clone(&file.path)).collect();
        if let Some(live) = &*self.shared.live.load()
            && *live.table.files() == *paths
        {
            if names_the_same(&live.revision, &revision) {
                return Ok(Some(Reloaded::Unchanged));
            }
            if live.revision.hash() == revision.hash() {
                self.swap(live.at(revision, self.place().await?)).await;
                return Ok(Some(Reloaded::Success));
            }
        }
        if self.rejected == paths
            && let Some(known) = self.rejected_before(&revision)
        {
            return Err(known);
        }

        let shared = Arc::clone(&self.shared);
        // A table's own tests are run by `check`.
        let compiling = self.thread.begin(move || {
            let compiled = match shared.live.take_offered(&files) {
                Some(proved) => Ok(Ok(proved)),
                None => {
                    let compiled = match shared.live.load_full() {
                        Some(live) => compile_read(&files, Some(&live.table)),
                        None => first.compile(&files),
                    };
                    compiled.map(Compilation::into_sound)
                }
            };
            (compiled, files)
        });
        let (compiled, files) = compiling.await.map_err(LoadError::Panicked)?;
        let Ok(compiled) = compiled else {
            return Ok(None);
        };
        let compiled = match compiled {
            Ok(compiled) => compiled,
            Err(diagnostics) => {
                self.rejected = paths;
                let revision = Box::new(revision);
                return Err(Arc::new(LoadError::Rejected {
                    revision,
                    diagnostics,
                }));
            }
        };
        let (entries, warnings) = (compiled.table.len(), compiled.warnings.len());
        info!(%revision, entries, warnings, "table loaded");
        let place = self.place().await?;
        let making = self.thread.begin(move || {
            let only_file = match &files[..] {
                [only] => only.as_whole(),
                _ => None,
            };
            Snapshot::new(compiled, only_file, revision, place)
        });
        let made = making.await;
        self.swap(made.map_err(LoadError::Panicked)?).await;
        Ok(Some(Reloaded::Success))
    }

    fn warn_once(&mut self, warnings: Vec<String>) {
        for warning in &warnings {
            if !self.warned.contains(warning) {
                warn!(warning, "while reading the table");
            }
        }
        self.warned = warnings;
    }

    /// Returns the error of the last check, if it concerned the same bytes.
    fn rejected_before(&self, revision: &Revision) -> Option<Arc<LoadError>> {
        let history = self.shared.live.history();
        let error = &history.last_error.as_ref()?.error;
        (error.revision()?.hash() == revision.hash()).then(|| Arc::clone(error))
    }

    /// Locates the source's table in its repository.
    async fn place(&self) -> Result<RepositoryPlace, LoadError> {
        let source = Arc::clone(&self.source);
        let place = self.thread.begin(move || source.place()).await;
        place.map_err(LoadError::Panicked)
    }

    async fn swap(&self, snapshot: Snapshot) {
        let revision = &snapshot.revision;
        self.shared.metrics.live(&snapshot.table, revision);
        let (source, accepted) = (Arc::clone(&self.source), revision.clone());
        let replaced = self.shared.live.swap(snapshot);
        // If this cannot be recorded, the source reports that; the table is served anyway.
        let _ = self.thread.begin(move || source.accepted(&accepted)).await;
        self.follow(replaced);
    }

    /// Drops the snapshot that was replaced, if there was one, and begins to make the order of the codes
    /// of the live table from its order, if searches need it.
    fn follow(&self, replaced: Option<Arc<Snapshot>>) {
        let Some(old) = replaced else { return };
        let live = self.shared.live.load_full();
        let live = live.map(|it| (Arc::downgrade(&it.table), Arc::clone(&it.code_orders)));
        let work = self.thread.begin(move || {
            // It may have been replaced by now.
            let live = live.and_then(|(table, orders)| Some((table.upgrade()?, orders)));
            let live = live.filter(|(_, orders)| !Arc::ptr_eq(&old.code_orders, orders));
            let followed = live.and_then(|(table, orders)| {
                let changes = CodeOrderChanges::between(&old.table, &old.code_orders, &table)?;
                Some((table, orders, changes))
            });
            // So that the new orders do not take memory besides it.
            let used = Arc::try_unwrap(old).err();
            if let Some((table, orders, changes)) = followed {
                orders.follow(&table, &changes);
            }
            used
        });
        let thread = self.thread.clone();
        tokio::spawn(async move {
            // A panic is reported where it happens.
            if let Ok(Some(used)) = work.await {
                retire(used, &thread).await;
            }
        });
    }
}

/// Reads the files of the offered table, without those whose cuts were offered; `None` if others are
/// to be read, or none.
fn read_offered(
    shared: &Shared,
    source: &dyn Source,
    before: &Fingerprint,
) -> Option<Reading<TableFile>> {
    let (table, cuts) = shared.live.offered_cuts()?;
    let before_too = before.with_cuts(&cuts);
    let earlier = Earlier {
        table: Some(&table),
        reading: Some(&before_too),
        first: None,
        trusts_times: true,
    };
    // An error occurs again when they are read otherwise, and is reported then.
    let reading = source.read(Some(before), earlier).ok()??;
    shared.live.is_offered(&reading.files).then_some(reading)
}

/// Returns whether two revisions are the same, ignoring the times of their files.
fn names_the_same(one: &Revision, other: &Revision) -> bool {
    one.commit() == other.commit()
        && one.is_dirty() == other.is_dirty()
        && one.hash() == other.hash()
}

/// Drops a snapshot once no request uses it, so that no request has to free a whole table.
async fn retire(old: Arc<Snapshot>, thread: &LoadThread) {
    while Arc::strong_count(&old) > 1 {
        sleep(RETIRING).await;
    }
    // Only a destructor of plain data could panic in it.
    let _ = thread.begin(move || drop(old)).await;
}
