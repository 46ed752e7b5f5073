//! Paths in a repository: in Git's form, and in the form that people know.
//!
//! Files of a commit are named as they would be in the work tree, so that two versions of a table
//! refer to the same files.

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
    pub(crate) fn new(inside: String, shown: &Path) -> Self {
        Self {
            inside,
            shown: shown.to_owned(),
        }
    }

    /// Returns the path from the repository's top.
    pub(crate) fn inside(&self) -> &str {
        &self.inside
    }

    /// Returns the name for people of a file that is this path or lies below it.
    pub(crate) fn shown(&self, file: &str) -> Arc<str> {
        let shown = match Path::new(file).strip_prefix(&self.inside) {
            Ok(below) if !below.as_os_str().is_empty() => self.shown.join(below),
            _ => self.shown.clone(),
        };
        shown.to_string_lossy().into()
    }
}

/// Converts a path from the current directory to one from the top, if it lies in there.
pub(crate) fn from_top(top: &Path, path: &str) -> Option<String> {
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
