//! Paths in a repository: as Git has them, and as people know them.
//!
//! What is read from a commit is named as it would be in the work tree, so that two versions of a
//! table speak of the same files.

use std::env;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A path in a repository.
#[derive(Debug, Clone)]
pub struct TreePath {
    inside: String,
    shown: PathBuf,
}

impl TreePath {
    pub(super) fn new(inside: String, shown: &Path) -> Self {
        Self {
            inside,
            shown: shown.to_owned(),
        }
    }

    /// Returns it from the repository's top.
    pub(super) fn inside(&self) -> &str {
        &self.inside
    }

    /// Returns how people know a file that is this path or lies below it.
    pub(super) fn shown(&self, file: &str) -> Arc<str> {
        let shown = match Path::new(file).strip_prefix(&self.inside) {
            Ok(below) if !below.as_os_str().is_empty() => self.shown.join(below),
            _ => self.shown.clone(),
        };
        shown.to_string_lossy().into()
    }
}

/// Returns a path from where we are as it is from the top, if it is in there.
pub(super) fn from_top(top: &Path, path: &str) -> Option<String> {
    let here = env::current_dir().ok()?.canonicalize().ok()?;
    let mut from_top = PathBuf::new();
    for part in here.strip_prefix(top).ok()?.join(path).components() {
        match part {
            Component::ParentDir if !from_top.pop() => return None,
            Component::Normal(name) => from_top.push(name),
            _ => {}
        }
    }
    from_top.to_str().map(str::to_owned)
}
