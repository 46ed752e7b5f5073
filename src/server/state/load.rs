//! Loading: where the server's table comes from, and why it may not come.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinError;

use crate::mapping::{Diagnostic, Timestamp};
use crate::source::{Fetch, Fingerprint, Reading, RemoteStatus, Revision, SourceError, chain};

use super::live::Reloaded;

/// Where the text of the served table comes from.
pub trait Source: Send + Sync + 'static {
    /// Returns what the status calls this source, without any secret.
    fn describe(&self) -> String;

    /// Returns what is notified when the source may have changed.
    ///
    /// A source without hints never notifies it: its changes are seen at the next poll.
    fn hints(&self) -> Arc<Notify>;

    /// Brings the newest from afar, for one that has to be fetched; may block, within bounded
    /// time. What goes wrong is told by [`fetching`](Self::fetching).
    fn refresh(&self) {}

    /// Reads the table as it is now; may block, within bounded time.
    ///
    /// # Errors
    ///
    /// Fails if there is no whole table to be had; with [`SourceError::Unsettled`] if one may be soon.
    fn read(&self) -> Result<Reading, SourceError>;

    /// Returns whether the source may hold something else than when that was read; may block.
    ///
    /// It is asked at every poll and hint, and so should be much cheaper than reading.
    fn may_differ_from(&self, known: &Fingerprint) -> bool;

    /// Takes note that the table of a revision went live; may block.
    fn accepted(&self, _revision: &Revision) {}

    /// Takes note that what was read last went live, or will not; may block.
    fn ended(&self) {}

    /// Takes note that somebody asks for the newest table, whatever became of it before.
    fn insist(&self) {}

    /// Turns back to the last table that went live, when the newest cannot and nothing is live.
    /// Returns whether there is one.
    fn fall_back(&self) -> bool {
        false
    }

    /// Returns to the newest table after falling back, if that one is to be tried after all. Tells
    /// whether it is.
    fn retry(&self) -> bool {
        false
    }

    /// Returns how it goes with fetching, for a source that has to be fetched.
    fn fetching(&self) -> Option<Fetching> {
        None
    }
}

/// How it goes with fetching.
#[derive(Debug, Clone)]
pub struct Fetching {
    /// What is followed, for a source that is a remote itself.
    pub remote: Option<RemoteStatus>,
    /// The last fetch, if one has ended.
    pub last: Option<Fetch>,
    /// When one last succeeded.
    pub last_success: Option<Timestamp>,
}

/// Why a table could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It has errors.
    #[error("the table has errors")]
    Rejected {
        /// Which version of it.
        revision: Box<Revision>,
        /// All problems, in the order of files and lines.
        diagnostics: Vec<Diagnostic>,
    },
    /// It could not be read.
    #[error("the table could not be read")]
    Unreadable(#[source] SourceError),
    /// It is larger than allowed.
    #[error("the table does not fit into {limit}")]
    TooLarge {
        /// The limit, and where it comes from.
        limit: Arc<str>,
        /// How large it is.
        #[source]
        source: SourceError,
    },
    /// The program failed at it.
    #[error("the table could not be compiled")]
    Panicked(#[source] JoinError),
}

impl LoadError {
    /// Tells what it means that a source could not be read, whose table may be as large as `limit`
    /// says.
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

    /// Returns what is wrong with the table, if that is the reason.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Rejected { diagnostics, .. } => diagnostics,
            Self::Unreadable(_) | Self::TooLarge { .. } | Self::Panicked(_) => &[],
        }
    }

    /// Returns after how long to look again, if a file may be in the middle of a write.
    pub(crate) fn unsettled(&self) -> Option<Duration> {
        match self {
            Self::Unreadable(SourceError::Unsettled { again, .. }) => Some(*again),
            _ => None,
        }
    }

    /// Returns the message with those of its causes, on one line.
    pub(crate) fn chain(&self) -> String {
        chain(self)
    }

    /// Returns what a look at the source that ended so is called.
    pub(crate) fn result(&self) -> Reloaded {
        match self {
            Self::Rejected { .. } => Reloaded::Rejected,
            Self::Unreadable(_) | Self::TooLarge { .. } | Self::Panicked(_) => Reloaded::Failed,
        }
    }

    /// Returns whether this is the same problem as `other`, so that it need not be told again.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self.revision(), other.revision()) {
            (Some(this), Some(other)) => this.hash() == other.hash(),
            (None, None) => self.chain() == other.chain(),
            _ => false,
        }
    }
}
