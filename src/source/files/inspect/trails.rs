//! The trails of a table's paths and files: the symbolic links on the way to them.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::git::{Trail, symlinks};

/// The trails of a table's paths and files that can be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::source::files) struct Trails {
    /// Of the paths that name the table.
    pub(in crate::source::files) named: Vec<Option<Trail>>,
    /// Of the files, in their order.
    pub(in crate::source::files) files: Vec<Option<Trail>>,
}

impl Trails {
    /// Follows the paths that name a table, and those of its files; also returns the metadata of each
    /// file that is not a link.
    pub(in crate::source::files) fn follow(
        named: &[PathBuf],
        files: &[PathBuf],
    ) -> (Self, Vec<Option<Metadata>>) {
        let named = named.iter().map(|path| symlinks::follow(path).ok());
        let mut follower = symlinks::PathFollower::default();
        let mut follow = |path: &PathBuf| match follower.follow(path) {
            Ok((trail, metadata)) => (Some(trail), metadata),
            Err(_) => (None, None),
        };
        let (files, metadata) = files.iter().map(&mut follow).unzip();
        let named = named.collect();
        (Self { named, files }, metadata)
    }

    /// Returns the real directories of a table: those that are named, and those of its files.
    pub(in crate::source::files) fn directories(&self) -> BTreeSet<&Path> {
        let named = self
            .named
            .iter()
            .flatten()
            .filter_map(|trail| match trail.end.is_dir() {
                true => Some(trail.end.as_path()),
                false => trail.end.parent(),
            });
        let files = self.files.iter().flatten();
        let mut directories: Vec<&Path> = files.filter_map(|trail| trail.end.parent()).collect();
        // Equal ones mostly follow each other, and comparing bytes is much faster than comparing
        // paths.
        directories.dedup_by(|one, other| one.as_os_str() == other.as_os_str());
        named.chain(directories).collect()
    }
}
