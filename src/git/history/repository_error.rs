//! Why a request to a local repository fails.

use std::io;
use std::path::{Path, PathBuf};

use super::tree::TreeError;
use crate::git::commit_id::CommitId;
use crate::git::foreign_repository::ForeignRepository;

/// Why files cannot be read from a local repository.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepositoryError {
    /// The name does not give both a commit and a path.
    #[error(
        "{0:?} does not name a table in a commit: use the form REV:PATH, as in HEAD:mapping.yaml"
    )]
    Form(String),
    /// There is no repository around a path.
    #[error("{} is not in a Git repository", path.display())]
    NoRepository {
        /// The path as it was given.
        path: PathBuf,
    },
    /// Git does not trust it.
    #[error(transparent)]
    Foreign(ForeignRepository),
    /// Git cannot use it.
    #[error("cannot use the Git repository around {}", path.display())]
    Unusable {
        /// The path as it was given.
        path: PathBuf,
        /// The error from Git.
        #[source]
        source: git2::Error,
    },
    /// A path leads out of the repository.
    #[error("{} is not in the repository at {}", path.display(), work_dir.display())]
    Outside {
        /// The path as it was given.
        path: PathBuf,
        /// The top directory of the checkout.
        work_dir: PathBuf,
    },
    /// A path from the current directory leads out of the repository, or there is no work tree.
    #[error("{0} is outside the repository")]
    OutsideTop(String),
    /// A revision names no commit.
    #[error("{revision:?} names no commit: give a branch, a tag or a commit's id")]
    UnknownRevision {
        /// The revision as it was given.
        revision: String,
    },
    /// A revision is not one that can be looked up.
    #[error("{revision:?} names no commit")]
    UnreadableRevision {
        /// The revision as it was given.
        revision: String,
        /// The error from Git.
        #[source]
        source: git2::Error,
    },
    /// Two commits have no common ancestor.
    #[error("{one} and {other} have no commit in common")]
    Unrelated {
        /// The first commit.
        one: CommitId,
        /// The second commit.
        other: CommitId,
    },
    /// The same, as far as can be known in a shallow clone.
    #[error(
        "{one} and {other} have no commit in common in this shallow clone: run git fetch --unshallow"
    )]
    Shallow {
        /// The first commit.
        one: CommitId,
        /// The second commit.
        other: CommitId,
    },
    /// The full history is needed, but the clone is shallow.
    #[error("this shallow clone lacks part of the history: run git fetch --unshallow")]
    CutOff,
    /// The commit has nothing there.
    #[error("{revision} does not contain {path}")]
    NotFound {
        /// The revision as it was given.
        revision: String,
        /// The path in the repository.
        path: String,
    },
    /// The content in the commit is no file, or cannot be read.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The system could not resolve a path.
    #[error("cannot find {}", path.display())]
    Io {
        /// The path as it was given.
        path: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
}

impl RepositoryError {
    /// Returns whether the files are larger than allowed.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::Tree(TreeError::TooLarge { .. }))
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// Returns whether the only problem is that the commit has nothing at that path.
    pub fn is_absence(&self) -> bool {
        matches!(
            self,
            Self::Tree(TreeError::NotFound { .. } | TreeError::NoYaml { .. })
        )
    }

    /// Returns whether the commit can be read, but has no such file at that path.
    pub fn is_no_file(&self) -> bool {
        matches!(self, Self::Tree(error) if !matches!(error, TreeError::Damaged { .. }))
    }
}
