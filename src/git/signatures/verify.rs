//! Whether a commit may be served at all: the interface for checking signatures.

use git2::Repository;

use crate::git::commit_id::CommitId;

/// Decides whether a commit may be served.
///
/// Called before a commit is served or checked out, at each fetch until it agrees, and again at a
/// restart; never about a commit that is already served. It may block, within bounded time.
pub trait Verify: Send + Sync + 'static {
    /// Agrees to serve a commit, which is in the repository with its tree, but perhaps without its
    /// parents.
    ///
    /// # Errors
    ///
    /// If the commit is not to be served.
    fn verify(&self, repository: &Repository, commit: CommitId) -> Result<(), Refusal>;
}

/// Why a commit is not served, in words for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// Accepts every commit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anyone;

impl Verify for Anyone {
    fn verify(&self, _: &Repository, _: CommitId) -> Result<(), Refusal> {
        Ok(())
    }
}
