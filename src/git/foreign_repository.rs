//! A repository of another user, which Git refuses to open, and how to make it usable.

use std::fmt;
use std::path::{Path, PathBuf};

use super::work_tree;

/// A Git repository belongs to another user, and this one does not trust it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the Git repository at {} belongs to another user: {}", root.display(), advice(root.display()))]
pub struct ForeignRepository {
    root: PathBuf,
}

impl ForeignRepository {
    /// Describes the repository around a directory.
    pub(crate) fn around(directory: &Path) -> Self {
        Self {
            root: work_tree::top(directory).unwrap_or(directory).to_owned(),
        }
    }
}

/// Returns how to make the repository of another user usable.
pub(crate) fn advice(root: impl fmt::Display) -> String {
    format!("run as its owner, or trust it: git config --global --add safe.directory {root}")
}
