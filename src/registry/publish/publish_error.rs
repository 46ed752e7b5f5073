//! Errors of publishing a change.

use std::time::Duration;

use super::checkout_error::CheckoutError;
use super::identity::IdentityError;
use crate::git::{CommitId, GitProgramError, RemoteBranchError, TreeError, is_damage};
use crate::registry::text::ReadTipError;

/// Why a change was not published. No message contains a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The remote, or the clone of it, cannot be used.
    #[error(transparent)]
    Remote(#[from] RemoteBranchError),
    /// The checkout is in a state that does not allow a push.
    #[error(transparent)]
    Checkout(#[from] CheckoutError),
    /// The `git` program failed.
    #[error(transparent)]
    Program(#[from] GitProgramError),
    /// The branch has no readable table.
    #[error(transparent)]
    Table(#[from] TreeError),
    /// The text of a file was read, but is not there any more.
    #[error("the text of {path} is not in the repository")]
    TextLost {
        /// Its path in the repository.
        path: String,
    },
    /// The author is unknown.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Git cannot create the commit.
    #[error("cannot create the commit")]
    Git(#[from] git2::Error),
    /// A hook of the checkout refused the commit.
    #[error("the commit was refused: {said}")]
    Declined {
        /// Its message.
        said: String,
    },
    /// The remote refused the push.
    #[error("the remote refused the push: {reason}")]
    Refused {
        /// Its message.
        reason: String,
    },
    /// The remote already has a branch with the name for review.
    #[error("the remote refused the push: the branch {branch} already exists: name another")]
    BranchExists {
        /// Its name, without `refs/heads/`.
        branch: String,
    },
    /// Other writers pushed first each time.
    #[error("the branch moved during {losses} pushes within {timeout:?}: try again later")]
    TooBusy {
        /// The number of lost pushes.
        losses: u32,
        /// The duration of the attempts.
        timeout: Duration,
    },
    /// The connection ended before the remote reported the result.
    #[error(
        "the push ended early, and the commit {commit} is not on the remote now: {reason}; \
         try again: if it did arrive, the next attempt finds it"
    )]
    Unclear {
        /// The commit.
        commit: CommitId,
        /// The error that was observed.
        reason: String,
    },
}

impl From<ReadTipError> for PublishError {
    fn from(error: ReadTipError) -> Self {
        match error {
            ReadTipError::Git(error) => Self::Git(error),
            ReadTipError::Tree(error) => Self::Table(error),
        }
    }
}

impl PublishError {
    /// Returns whether the repository that is pushed from seems to be at fault.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Remote(error) => error.is_damage(),
            Self::Table(error) => error.is_damage(),
            Self::Git(error) => is_damage(error),
            Self::TextLost { .. } => true,
            _ => false,
        }
    }
}
