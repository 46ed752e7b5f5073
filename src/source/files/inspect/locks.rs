//! The locks by which Git indicates that it is changing a checkout.
//!
//! While `index.lock` exists, files may be half of one commit and half of another. A lock can also
//! be left over from a git command that was killed; waiting for it would be useless each time.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::checkout::Surroundings;

/// The locks that Git holds on the checkouts of a table.
pub(crate) struct Locks {
    /// The path of each possible lock.
    candidates: Vec<PathBuf>,
    paths: Vec<PathBuf>,
    /// Whether a lock is recent enough for Git to be running.
    pub(crate) fresh: bool,
}

impl Locks {
    /// Looks for locks; those older than `fresh_for` are not fresh.
    pub(crate) fn of(surroundings: &Surroundings, now: SystemTime, fresh_for: Duration) -> Self {
        let git_dirs = surroundings.git_dirs();
        let mut locks = Self {
            candidates: git_dirs.map(|it| it.join("index.lock")).collect(),
            paths: Vec::new(),
            fresh: false,
        };
        locks.look_again(now, fresh_for);
        locks
    }

    /// Looks for locks in the same places again, and returns whether one is fresh.
    pub(crate) fn look_again(&mut self, now: SystemTime, fresh_for: Duration) -> bool {
        self.paths.clear();
        self.fresh = false;
        for path in &self.candidates {
            if let Some(made) = modified(path) {
                // A lock with a future time comes from a wrong clock, and counts as new.
                self.fresh |= now.duration_since(made).unwrap_or_default() < fresh_for;
                self.paths.push(path.clone());
            }
        }
        self.fresh
    }

    /// Returns warnings that a table was read despite these locks.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        self.paths.iter().map(|path| {
            let path = path.display();
            format!("{path} stayed too long to wait for: remove it if no git command is running")
        })
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(path).ok()?.modified().ok()
}
