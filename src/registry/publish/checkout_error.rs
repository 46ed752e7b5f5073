//! Errors of a checkout that does not allow a change.

use std::path::PathBuf;

/// Why a checkout was left unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckoutError {
    /// There is no checkout.
    #[error("{} is not in a Git checkout", path.display())]
    None {
        /// The table.
        path: PathBuf,
    },
    /// The checkout belongs to someone else.
    #[error("the Git checkout around {} belongs to another user", path.display())]
    Foreign {
        /// The table.
        path: PathBuf,
    },
    /// Its object format is unknown to libgit2.
    #[error("the Git repository around {} uses SHA-256, which is not supported", path.display())]
    ObjectFormat {
        /// The table.
        path: PathBuf,
    },
    /// Another operation is in progress.
    #[error("the checkout is in the middle of a {operation}")]
    Unfinished {
        /// The operation.
        operation: &'static str,
    },
    /// No branch is checked out.
    #[error("no branch is checked out")]
    Detached,
    /// The branch has no upstream.
    #[error("{branch} has no upstream branch")]
    NoUpstream {
        /// The branch.
        branch: String,
    },
    /// No remote can be chosen.
    #[error("the checkout has no remote named origin")]
    NoRemote,
    /// The remote has no such branch.
    #[error("the remote {remote} has no branch {branch}")]
    NoBranch {
        /// The remote's name.
        remote: String,
        /// The branch.
        branch: String,
    },
    /// The branch has local commits.
    #[error("{branch} has commits that its upstream branch does not have")]
    Unpushed {
        /// The branch.
        branch: String,
    },
    /// The file has uncommitted changes.
    #[error("{file} has uncommitted changes")]
    Changed {
        /// The file, relative to the checkout's top.
        file: String,
    },
    /// The table is not in the checkout.
    #[error("{} is not in the checkout at {}", path.display(), work_dir.display())]
    Outside {
        /// The table.
        path: PathBuf,
        /// The checkout's top.
        work_dir: PathBuf,
    },
}
