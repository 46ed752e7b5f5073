//! The live table: what requests are answered from, swapped in one step.
//!
//! Readers pay for an atomic load and take no lock. The outcome of the last reload stands beside
//! it, behind a lock that only operators' requests and the reload loop take.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::{ArcSwapOption, Guard};
use tokio::sync::Notify;

use crate::mapping::{Table, Timestamp};
use crate::source::Revision;

use super::load::LoadError;

/// A table and the version of the source that it is.
pub(crate) struct Snapshot {
    pub(crate) table: Arc<Table>,
    pub(crate) revision: Revision,
    /// The revision as people read it, on every page.
    pub(crate) short: String,
}

impl Snapshot {
    pub(crate) fn new(table: Arc<Table>, revision: Revision) -> Self {
        Self {
            table,
            short: revision.short(),
            revision,
        }
    }
}

/// How a look at the source ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reloaded {
    /// Another revision went live.
    Success,
    /// The live revision is the source's.
    Unchanged,
    /// The source's table has errors.
    Rejected,
    /// The source could not be read.
    Failed,
}

impl Reloaded {
    pub(crate) const ALL: [Self; 4] =
        [Self::Success, Self::Unchanged, Self::Rejected, Self::Failed];

    /// Returns the word that metrics and the status use.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Unchanged => "unchanged",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
        }
    }
}

/// The last look at the source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastReload {
    pub(crate) at: Timestamp,
    pub(crate) took: Duration,
    pub(crate) result: Reloaded,
}

/// Why the source's table is not the live one.
#[derive(Debug, Clone)]
pub(crate) struct LastError {
    /// When it was first seen.
    pub(crate) since: Timestamp,
    pub(crate) error: Arc<LoadError>,
}

/// What is told about reloads.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    pub(crate) last_reload: Option<LastReload>,
    /// `None` as soon as the source is well again.
    pub(crate) last_error: Option<LastError>,
}

/// The snapshot that is served, if there is one yet, and how it came about.
#[derive(Default)]
pub(crate) struct Live {
    snapshot: ArcSwapOption<Snapshot>,
    history: Mutex<History>,
    looked_at: Notify,
}

impl Live {
    /// Returns the snapshot for the length of one request.
    pub(crate) fn load(&self) -> Guard<Option<Arc<Snapshot>>> {
        self.snapshot.load()
    }

    /// Returns the snapshot for longer.
    pub(crate) fn load_full(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.load_full()
    }

    /// Puts a snapshot in the place of another, which is returned.
    pub(crate) fn swap(&self, snapshot: Snapshot) -> Option<Arc<Snapshot>> {
        self.snapshot.swap(Some(Arc::new(snapshot)))
    }

    /// Returns what is known about reloads.
    pub(crate) fn history(&self) -> MutexGuard<'_, History> {
        // Both fields are whole at all times, whoever panicked.
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the one who waits that there is more in the history.
    pub(crate) fn notify_looked_at(&self) {
        self.looked_at.notify_one();
    }

    /// Waits until the source was looked at again since this was last waited for.
    pub(crate) async fn looked_at(&self) {
        self.looked_at.notified().await;
    }
}
