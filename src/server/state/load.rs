//! Loading: the source of the server's table, and the errors of loading it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinError;

use crate::git::{Setting, chain};
use crate::mapping::{Diagnostic, TableFile, Timestamp};
use crate::source::{
    Earlier, Fetch, Fingerprint, Reading, RemoteStatus, RepositoryPlace, Revision, SourceError,
};

use super::reloaded::Reloaded;

/// The source of the served table's text.
pub trait Source: Send + Sync + 'static {
    /// Returns the name of this source in the status, without any secret.
    fn describe(&self) -> String;

    /// Returns a handle that is notified when the source may have changed.
    ///
    /// A source without hints never notifies it: its changes are seen at the next poll.
    fn hints(&self) -> Arc<Notify>;

    /// Fetches the latest revision, for a source that must be fetched; may block, within bounded
    /// time. Errors are reported by [`fetching`](Self::fetching).
    fn refresh(&self) {}

    /// Reads the current table, except for parts that are already known, or returns `None` if its
    /// metadata are those of the `known` reading; may block, within bounded time.
    ///
    /// It is called at every poll and hint, so finding that nothing has changed should be much
    /// cheaper than reading.
    ///
    /// # Errors
    ///
    /// Fails if there is no complete table; with
    /// [`FilesError::Unsettled`](crate::source::FilesError::Unsettled) if there may be one soon.
    fn read(
        &self,
        known: Option<&Fingerprint>,
        earlier: Earlier<'_>,
    ) -> Result<Option<Reading<TableFile>>, SourceError>;

    /// Records that the table of a revision went live; may block.
    fn accepted(&self, _revision: &Revision) {}

    /// Records that the last reading went live, or will not; may block.
    fn ended(&self) {}

    /// Records that the newest table was requested, whatever its earlier outcome.
    fn prefer_newest(&self) {}

    /// Falls back to the last table that went live, when the newest cannot and nothing is live.
    /// Returns whether there is one.
    fn fall_back(&self) -> bool {
        false
    }

    /// Returns to the newest table after falling back, if it should be tried after all. Returns
    /// whether it should.
    fn retry(&self) -> bool {
        false
    }

    /// Locates the table in the repository to which people propose changes; may block.
    fn place(&self) -> RepositoryPlace {
        RepositoryPlace::default()
    }

    /// Returns the state of fetching, for a source that must be fetched.
    fn fetching(&self) -> Option<Fetching> {
        None
    }
}

/// The state of fetching.
#[derive(Debug, Clone)]
pub struct Fetching {
    /// The remote that is followed, for a source that is a remote itself.
    pub remote: Option<RemoteStatus>,
    /// The last fetch that has ended, if any.
    pub last: Option<Fetch>,
    /// When a fetch last succeeded.
    pub last_success: Option<Timestamp>,
}

/// Why a table could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It has errors.
    #[error("the table has errors")]
    Rejected {
        /// The revision with the errors.
        revision: Box<Revision>,
        /// All diagnostics, in the order of files and lines.
        diagnostics: Vec<Diagnostic>,
    },
    /// It could not be read.
    #[error("the table could not be read")]
    Unreadable(#[source] SourceError),
    /// It is larger than allowed.
    #[error("the table does not fit into {limit}")]
    TooLarge {
        /// The limit, and where it is set.
        limit: Arc<str>,
        /// The size of the table.
        #[source]
        source: SourceError,
    },
    /// The program panicked.
    #[error("the table could not be compiled")]
    Panicked(#[source] JoinError),
}

impl LoadError {
    /// Returns the error for a source that could not be read, with `limit` as the name of the limit
    /// on its table's size.
    pub(crate) fn unreadable(source: SourceError, limit: &Arc<str>) -> Self {
        match source.is_too_large() {
            false => Self::Unreadable(source),
            true => Self::TooLarge {
                limit: Arc::clone(limit),
                source,
            },
        }
    }

    /// Returns the revision, if it was read.
    pub(crate) fn revision(&self) -> Option<&Revision> {
        match self {
            Self::Rejected { revision, .. } => Some(revision),
            Self::Unreadable(_) | Self::TooLarge { .. } | Self::Panicked(_) => None,
        }
    }

    /// Returns the table's diagnostics, if they are the reason.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Rejected { diagnostics, .. } => diagnostics,
            Self::Unreadable(_) | Self::TooLarge { .. } | Self::Panicked(_) => &[],
        }
    }

    /// Returns the setting that may have to be changed, if any.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Self::Unreadable(source) | Self::TooLarge { source, .. } => source.setting(),
            Self::Rejected { .. } | Self::Panicked(_) => None,
        }
    }

    /// Returns how long to wait before the next check, if a file may still be being written.
    pub(crate) fn unsettled(&self) -> Option<Duration> {
        match self {
            Self::Unreadable(source) => source.unsettled(),
            _ => None,
        }
    }

    /// Returns the message with those of its causes, on one line.
    pub(crate) fn chain(&self) -> String {
        chain(self)
    }

    /// Returns the outcome of a check of the source with this error.
    pub(crate) fn result(&self) -> Reloaded {
        match self {
            Self::Rejected { .. } => Reloaded::Rejected,
            Self::Unreadable(_) | Self::TooLarge { .. } | Self::Panicked(_) => Reloaded::Failed,
        }
    }

    /// Returns whether this is the same problem as `other`, so that it need not be reported again.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self.revision(), other.revision()) {
            (Some(this), Some(other)) => this.hash() == other.hash(),
            (None, None) => self.chain() == other.chain(),
            _ => false,
        }
    }
}
