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

    /// Returns the path of a name beside it; the repository itself has nothing beside it.
    pub fn beside(&self, name: &str) -> Option<Self> {
        let inside = Path::new(&self.inside);
        let inside = inside.file_name().map(|_| inside.with_file_name(name))?;
        let shown = match self.shown.file_name() {
            Some(_) => self.shown.with_file_name(name),
            None => self.shown.join("..").join(name),
        };
        Some(Self {
            inside: inside.to_str()?.to_owned(),
            shown,
        })
    }

    /// Returns the path as people know it.
    pub fn as_shown(&self) -> &Path {
        &self.shown
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_beside_a_file_or_directory() {
        for (inside, shown, expected) in [
            ("mapping.yaml", "mapping.yaml", Some(("o", "o"))),
            ("links", "./links/", Some(("o", "./o"))),
            ("a/links", "../a/links", Some(("a/o", "../a/o"))),
            ("a/b", ".", Some(("a/o", "./../o"))),
            ("", ".", None),
        ] {
            let path = TreePath::new(inside.to_owned(), Path::new(shown)).beside("o");
            let found = path
                .as_ref()
                .map(|it| (it.inside(), it.shown.to_str().unwrap()));
            assert_eq!(found, expected, "{inside} {shown}");
        }
    }
}
