//! The live table, from which requests are answered, replaced in one step.
//!
//! Readers need an atomic load and no lock. The outcome of the last reload is next to it, protected
//! by a lock that only operators' requests and the reload loop take.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::{ArcSwapOption, Guard};
use git2::Oid;
use tokio::sync::Notify;

use crate::mapping::{Cut, SoundTable, SourceFile, Table, TableFile, Timestamp};
use crate::registry::{OfferedTable, ProposalBase, TextFile};
use crate::source::{RepositoryPlace, Revision};

use super::code_orders::CodeOrders;
use super::load::LoadError;
use super::reloaded::Reloaded;

/// A table and its revision.
pub(crate) struct Snapshot {
    pub(crate) table: Arc<Table>,
    /// The same table, with the findings of its compilation.
    pub(crate) compiled: SoundTable,
    pub(crate) revision: Revision,
    /// The revision in its short form, as shown on every page.
    pub(crate) short: String,
    /// Shared with the snapshots of other revisions that have the same table.
    pub(crate) code_orders: Arc<CodeOrders>,
    /// Where its files are in their repository.
    pub(crate) place: RepositoryPlace,
    /// The data that decide about proposals; shared like the orders of codes.
    pub(crate) proposals: Arc<ProposalBase>,
}

impl Snapshot {
    /// Creates the first snapshot of a table; `only_file` is its file, if it has one and its text
    /// was read. For some tables, this visits all codes.
    pub(crate) fn new(
        compiled: SoundTable,
        only_file: Option<&SourceFile>,
        revision: Revision,
        place: RepositoryPlace,
    ) -> Self {
        let table = Arc::clone(&compiled.table);
        Self {
            proposals: Arc::new(ProposalBase::new(table, only_file)),
            table: Arc::clone(&compiled.table),
            compiled,
            short: revision.short(),
            revision,
            place,
            code_orders: Arc::default(),
        }
    }

    /// Returns a snapshot of the same table in another revision.
    pub(crate) fn at(&self, revision: Revision, place: RepositoryPlace) -> Self {
        Self {
            table: Arc::clone(&self.table),
            compiled: self.compiled.clone(),
            short: revision.short(),
            revision,
            code_orders: Arc::clone(&self.code_orders),
            place,
            proposals: Arc::clone(&self.proposals),
        }
    }
}

/// Returns whether files are those that were read.
fn are_same(files: &[TextFile], read: &[TableFile]) -> bool {
    let mut all = files.iter().zip(read);
    files.len() == read.len()
        && all.all(|(file, read)| file.path == read.path && file.cut().hash() == read.cut.hash())
}

/// The last check of the source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastReload {
    pub(crate) at: Timestamp,
    pub(crate) took: Duration,
    pub(crate) result: Reloaded,
}

/// Why the source's table is not the live one.
#[derive(Debug, Clone)]
pub(crate) struct LastError {
    /// When the error was first seen.
    pub(crate) since: Timestamp,
    pub(crate) error: Arc<LoadError>,
}

/// The outcomes of reloads, for operators.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    pub(crate) last_reload: Option<LastReload>,
    /// `None` as soon as the source has no error.
    pub(crate) last_error: Option<LastError>,
}

/// Where changed files were cut, by their content in Git.
type ChangedCuts = Vec<(Oid, Arc<Cut>)>;

/// The snapshot that is served, if there is one yet, and the history of reloads.
#[derive(Default)]
pub(crate) struct Live {
    snapshot: ArcSwapOption<Snapshot>,
    history: Mutex<History>,
    looked_at: Notify,
    swapped: Notify,
    /// A table that was already compiled, with its files.
    offered: Mutex<Option<OfferedTable>>,
}

impl Live {
    /// Returns the snapshot for the duration of one request.
    pub(crate) fn load(&self) -> Guard<Option<Arc<Snapshot>>> {
        self.snapshot.load()
    }

    /// Returns the snapshot for longer.
    pub(crate) fn load_full(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.load_full()
    }

    /// Replaces the snapshot, and returns the previous one.
    pub(crate) fn swap(&self, snapshot: Snapshot) -> Option<Arc<Snapshot>> {
        let previous = self.snapshot.swap(Some(Arc::new(snapshot)));
        self.swapped.notify_one();
        previous
    }

    /// Waits until the snapshot was replaced since the last wait. Only one task may wait.
    pub(crate) async fn swapped(&self) {
        self.swapped.notified().await;
    }

    /// Offers a compiled table to the reload loop, which may be about to load its files.
    pub(crate) fn offer(&self, offered: OfferedTable) {
        *self.offered() = Some(offered);
    }

    /// Returns the offered table, with the files that changed in its commit, by their content in Git,
    /// and where they were cut; `None` if they are not known.
    pub(crate) fn offered_cuts(&self) -> Option<(Arc<Table>, ChangedCuts)> {
        let offered = self.offered();
        let OfferedTable { proved, cuts } = offered.as_ref()?;
        (!cuts.is_empty()).then(|| (Arc::clone(&proved.table.table), cuts.clone()))
    }

    /// Returns whether the offered table was compiled from exactly these files.
    pub(crate) fn is_offered(&self, files: &[TableFile]) -> bool {
        let offered = self.offered();
        offered
            .as_ref()
            .is_some_and(|it| are_same(&it.proved.files, files))
    }

    /// Takes the offered table if it was compiled from exactly these files.
    pub(crate) fn take_offered(&self, files: &[TableFile]) -> Option<SoundTable> {
        let is_it = |offered: &mut OfferedTable| are_same(&offered.proved.files, files);
        Some(self.offered().take_if(is_it)?.proved.table)
    }

    /// Drops the offered table.
    pub(crate) fn withdraw(&self) {
        self.offered().take();
    }

    fn offered(&self) -> MutexGuard<'_, Option<OfferedTable>> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the history of reloads.
    pub(crate) fn history(&self) -> MutexGuard<'_, History> {
        // Both fields are always complete, even after a panic.
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies the waiting task that the history has changed.
    pub(crate) fn notify_looked_at(&self) {
        self.looked_at.notify_one();
    }

    /// Waits until the source was checked again since the last wait.
    pub(crate) async fn looked_at(&self) {
        self.looked_at.notified().await;
    }
}
