//! Loading: where the server's table comes from, and why it may not come.

use std::error::Error;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::task::JoinError;

use crate::mapping::Diagnostic;
use crate::source::{Fingerprint, Reading, Revision, SourceError};

use super::live::Reloaded;

/// Where the text of the served table comes from.
pub trait Source: Send + Sync + 'static {
    /// Returns what the status calls this source, without any secret.
    fn describe(&self) -> String;

    /// Returns what is notified when the source may have changed.
    ///
    /// A source without hints never notifies it: its changes are seen at the next poll.
    fn hints(&self) -> Arc<Notify>;

    /// Reads the table as it is now; may block, within bounded time.
    ///
    /// # Errors
    ///
    /// Fails if there is no whole table to be had.
    fn read(&self) -> Result<Reading, SourceError>;

    /// Tells whether the source may hold something else than when that was read; may block.
    ///
    /// It is asked at every poll and hint, and so should be much cheaper than reading.
    fn may_differ_from(&self, known: &Fingerprint) -> bool;
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
    /// The program failed at it.
    #[error("the table could not be compiled")]
    Panicked(#[source] JoinError),
}

impl LoadError {
    /// Returns the revision, if it was read.
    pub(super) fn revision(&self) -> Option<&Revision> {
        match self {
            Self::Rejected { revision, .. } => Some(revision),
            Self::Unreadable(_) | Self::Panicked(_) => None,
        }
    }

    /// Returns what is wrong with the table, if that is the reason.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Rejected { diagnostics, .. } => diagnostics,
            Self::Unreadable(_) | Self::Panicked(_) => &[],
        }
    }

    /// Returns the message with those of its causes, on one line.
    pub(super) fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        text
    }

    /// Returns what a look at the source that ended so is called.
    pub(super) fn result(&self) -> Reloaded {
        match self {
            Self::Rejected { .. } => Reloaded::Rejected,
            Self::Unreadable(_) | Self::Panicked(_) => Reloaded::Failed,
        }
    }

    /// Tells whether this is the same problem as `other`, so that it need not be told again.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self.revision(), other.revision()) {
            (Some(this), Some(other)) => this.hash() == other.hash(),
            (None, None) => self.chain() == other.chain(),
            _ => false,
        }
    }
}
