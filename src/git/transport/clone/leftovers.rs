//! The leftovers of a killed transfer: incomplete files of libgit2.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::target::CloneTarget;

/// The lock of the one process that fetches into a clone of our own.
pub(crate) const LOCK: &str = "waypost.lock";

/// The name of an incomplete pack in libgit2, before sixteen random digits.
pub(crate) const PARTIAL_PACK: &str = "pack_git2_";

/// Removes all leftovers from a clone of our own. The caller holds its lock.
pub(crate) fn remove_all(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            remove_all(&entry.path())?;
        } else if name != LOCK && (name.ends_with(".lock") || name.contains("_git2_")) {
            // libgit2's names for locks and incomplete files.
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The incomplete files of a repository before a transfer into it.
pub(crate) enum Before {
    /// A clone of our own, in which nothing belongs to anyone else.
    Own(PathBuf),
    /// A person's repository, in which others may be at work.
    Shared {
        packs: PathBuf,
        partial: HashSet<PathBuf>,
    },
}

impl Before {
    /// Inspects a repository before a transfer.
    pub(crate) fn of(repository: &Path, target: CloneTarget) -> Self {
        if target == CloneTarget::OwnClone {
            return Self::Own(repository.to_owned());
        }
        let packs = repository.join("objects/pack");
        Self::Shared {
            partial: partial(&packs),
            packs,
        }
    }

    /// Removes the leftovers of a transfer that has ended. Any that cannot be removed now are left
    /// to the next time.
    pub(crate) fn clean_up(&self) {
        match self {
            Self::Own(clone) => {
                // A file still in use by the system is left to the next transfer.
                let lock = File::open(clone.join(LOCK));
                if lock.is_ok_and(|lock| lock.try_lock().is_ok() && remove_all(clone).is_err()) {
                    tracing::debug!(clone = %clone.display(), "cannot remove the leftovers of a fetch");
                }
            }
            Self::Shared {
                packs,
                partial: known,
            } => {
                for pack in partial(packs).difference(known) {
                    let _ = fs::remove_file(pack);
                }
            }
        }
    }
}

fn partial(packs: &Path) -> HashSet<PathBuf> {
    let entries = fs::read_dir(packs).into_iter().flatten().flatten();
    let is_partial = |name: &str| name.starts_with(PARTIAL_PACK);
    (entries.filter(|it| is_partial(&it.file_name().to_string_lossy())))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_what_came_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let packs = directory.path().join("objects/pack");
        fs::create_dir_all(&packs).unwrap();
        let there = |name: &str| packs.join(name).exists();
        let make = |name: &str| fs::write(packs.join(name), "").unwrap();
        make("pack_git2_1");
        let before = Before::of(directory.path(), CloneTarget::Shared);
        make("pack_git2_2");
        make("pack-1.idx.lock");
        before.clean_up();
        let left = ["pack_git2_1", "pack_git2_2", "pack-1.idx.lock"].map(there);
        assert_eq!(left, [true, false, true]);

        fs::write(directory.path().join(LOCK), "").unwrap();
        let held = File::open(directory.path().join(LOCK)).unwrap();
        held.lock().unwrap();
        let own = Before::of(directory.path(), CloneTarget::OwnClone);
        own.clean_up();
        assert!(there("pack_git2_1"));
        drop(held);
        own.clean_up();
        assert!(!there("pack_git2_1") && !there("pack-1.idx.lock"));
    }
}
