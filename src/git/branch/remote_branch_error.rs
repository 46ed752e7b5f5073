//! Errors of a writable branch of a remote.

use std::io;

use super::program_error::GitProgramError;
use crate::git::setting::Setting;
use crate::git::transport::{StateError, TransferError};

/// Why a remote's branch cannot be written to. No message contains a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteBranchError {
    /// The remote could not be reached, or there is nothing to fetch.
    #[error("{remote}")]
    Transfer {
        /// The remote's address, without secrets.
        remote: String,
        /// The reason.
        #[source]
        source: TransferError,
    },
    /// The fetched reference is not a branch.
    #[error("{name} of {remote} is no branch: name a branch")]
    NotABranch {
        /// The name.
        name: String,
        /// The remote's address, without secrets.
        remote: String,
    },
    /// No clone can be created.
    #[error(transparent)]
    State(#[from] StateError),
    /// The `git` program failed.
    #[error(transparent)]
    Program(#[from] GitProgramError),
    /// The clone cannot be used.
    #[error("cannot use the clone of {remote}")]
    Clone {
        /// The remote's address, without secrets.
        remote: String,
        /// The error from Git.
        #[source]
        source: git2::Error,
    },
    /// The clone cannot be written to.
    #[error("cannot write to the clone of {remote}")]
    Store {
        /// The remote's address, without secrets.
        remote: String,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
    /// The system lacks the resources for a thread's runtime.
    #[error("cannot start a transfer")]
    Io(#[from] io::Error),
}

impl RemoteBranchError {
    /// Returns the setting that may have to be changed.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Self::Transfer { source, .. } => source.setting(),
            Self::NotABranch { .. } => Some(Setting::Reference),
            Self::Program(error) => error.setting(),
            _ => None,
        }
    }

    /// Returns whether the clone seems to be at fault, so that a fresh one may help.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Transfer { source, .. } => source.is_damage(),
            Self::Clone { .. } => true,
            _ => false,
        }
    }
}
