//! Errors of a checkout that does not allow a change.

use std::path::PathBuf;

/// Why a checkout was left unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckoutError {
    /// There is no checkout.
    #[error(
        "{} is in no Git checkout, which --commit, --push and --branch need: leave them out, or \
         name a repository with --repo",
        path.display()
    )]
    None {
        /// The table.
        path: PathBuf,
    },
    /// The checkout belongs to someone else.
    #[error(
        "the Git checkout around {} belongs to another user: run as its owner, or \
         `git config --global --add safe.directory` with its path",
        path.display()
    )]
    Foreign {
        /// The table.
        path: PathBuf,
    },
    /// Its object format is unknown to libgit2.
    #[error(
        "the Git repository around {} uses SHA-256, which is not supported: leave out --commit, \
         --push and --branch, and commit with git",
        path.display()
    )]
    ObjectFormat {
        /// The table.
        path: PathBuf,
    },
    /// Another operation is in progress.
    #[error("the checkout is in the middle of a {operation}: finish or abort it")]
    Unfinished {
        /// The operation.
        operation: &'static str,
    },
    /// No branch is checked out.
    #[error("the checkout is at no branch: `git switch` to one, or push a new one with --branch")]
    Detached,
    /// The branch has no upstream.
    #[error("{branch} follows no branch of a remote: `git branch --set-upstream-to` one")]
    NoUpstream {
        /// The branch.
        branch: String,
    },
    /// No remote can be chosen.
    #[error("the checkout has no remote origin: `git remote add origin` one")]
    NoRemote,
    /// The remote has no such branch.
    #[error("the remote {remote} has no branch {branch}: push it first")]
    NoBranch {
        /// The remote's name.
        remote: String,
        /// The branch.
        branch: String,
    },
    /// The branch has local commits.
    #[error(
        "{branch} has commits that its remote has not: push them first with `git push`, \
         or push a new branch with --branch"
    )]
    Unpushed {
        /// The branch.
        branch: String,
    },
    /// The file has uncommitted changes.
    #[error("{file} has changes that are not committed: commit them first, or undo them")]
    Changed {
        /// The file, relative to the checkout's top.
        file: String,
    },
    /// The table is not in the checkout.
    #[error("{} does not lie in the checkout at {}", path.display(), work_dir.display())]
    Outside {
        /// The table.
        path: PathBuf,
        /// The checkout's top.
        work_dir: PathBuf,
    },
}
