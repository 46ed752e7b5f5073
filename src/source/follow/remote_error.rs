//! Why there is no table from a followed remote.

use std::path::PathBuf;

use crate::git::{CommitId, Refusal, Setting, StateError, TransferError, TreeError};

/// Why there is no table from a remote, or no newer one. No message contains a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// There has been none yet.
    #[error("no table from {remote} yet: {reason}")]
    NothingYet {
        /// The remote's address, without secrets.
        remote: String,
        /// Why the last fetch failed.
        reason: String,
        /// The setting that may have to be changed.
        setting: Option<Setting>,
    },
    /// The remote could not be fetched from.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// The state directory cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The commit has no readable table.
    #[error(transparent)]
    Table(#[from] TreeError),
    /// The commit may not be served.
    #[error("the commit {commit} is not trusted: {refusal}")]
    Refused {
        /// The commit.
        commit: CommitId,
        /// Why.
        refusal: Refusal,
    },
    /// It may have ended an earlier process, so the last good one is loaded first.
    #[error(
        "the process ended unexpectedly while it loaded the commit {commit}: \
         the last good commit is served first, then this one is tried again"
    )]
    GoodFirst {
        /// The commit.
        commit: CommitId,
    },
    /// It seems to kill the processes that load it.
    #[error(
        "the process ended unexpectedly {unclean_ends} times while it loaded the commit {commit}, \
         as if memory had run out: it is tried again when the branch moves, when a reload is \
         requested, or with more memory; or at the next start if {} is removed",
        attempts.display()
    )]
    Waiting {
        /// The commit.
        commit: CommitId,
        /// The number of times.
        unclean_ends: u32,
        /// The path of the record.
        attempts: PathBuf,
    },
    /// The clone cannot be used.
    #[error("cannot use the clone in {}", path.display())]
    Clone {
        /// The path of the clone.
        path: PathBuf,
        /// The error from Git.
        #[source]
        source: git2::Error,
    },
}

impl RemoteError {
    /// Returns the setting that may have to be changed.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Self::NothingYet { setting, .. } => *setting,
            Self::Transfer(error) => error.setting(),
            Self::State(error) => error.setting(),
            Self::Table(error) => error.setting(),
            _ => None,
        }
    }

    /// Returns whether the clone seems to be at fault, so that a fresh one may help.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Transfer(error) => error.is_damage(),
            Self::Table(error) => error.is_damage(),
            Self::Clone { .. } => true,
            _ => false,
        }
    }
}
