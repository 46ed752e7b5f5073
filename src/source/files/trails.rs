//! The ways to a table's paths and files, through symbolic links.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::git::{Trail, symlinks};

/// The ways to a table's paths and files, of each that can be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trails {
    /// Of the paths that name the table.
    pub(super) named: Vec<Option<Trail>>,
    /// Of the files, in their order.
    pub(super) files: Vec<Option<Trail>>,
}

impl Trails {
    /// Follows the paths that name a table, and those of its files.
    pub(super) fn follow(named: &[PathBuf], files: &[PathBuf]) -> Self {
        let follow = |path: &PathBuf| symlinks::follow(path).ok();
        Self {
            named: named.iter().map(follow).collect(),
            files: files.iter().map(follow).collect(),
        }
    }

    /// Returns the real directories of a table: those that are named, and those of its files.
    pub(super) fn directories(&self) -> BTreeSet<&Path> {
        let named = self
            .named
            .iter()
            .flatten()
            .filter_map(|trail| match trail.end.is_dir() {
                true => Some(trail.end.as_path()),
                false => trail.end.parent(),
            });
        let files = self.files.iter().flatten();
        named
            .chain(files.filter_map(|trail| trail.end.parent()))
            .collect()
    }
}
