//! Changes local files, one writer at a time.
//!
//! A writer has a lock (`flock`) on each directory with files of the table, from reading them until
//! they are written. It leaves nothing behind, and ends with its process. Changes by programs that
//! do not lock, such as an editor, are detected unless they are written at the very same moment.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::checkout::UserCheckout;
use super::publish_error::PublishError;
use super::table_change::TableChange;
use crate::mapping::{SourceFile, compile_after};
use crate::registry::decide::RegistrationRefusal;
use crate::source::{self, FileSource, FilesError};

/// The number of attempts when another process has written to the file.
const ATTEMPTS: usize = 5;

/// Why local files were not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// The request is refused.
    #[error(transparent)]
    Refused(#[from] RegistrationRefusal),
    /// The table cannot be read.
    #[error(transparent)]
    Source(#[from] FilesError),
    /// A directory cannot be locked.
    #[error("cannot lock {}", path.display())]
    Lock {
        /// The directory.
        path: PathBuf,
        /// The system error.
        #[source]
        source: io::Error,
    },
    /// The file is read-only.
    #[error("nothing was changed: {path} is read-only")]
    ReadOnly {
        /// The file.
        path: String,
    },
    /// A file cannot be written.
    #[error("nothing was changed: cannot write {path}")]
    Write {
        /// The file.
        path: String,
        /// The system error.
        #[source]
        source: io::Error,
    },
    /// Another process keeps writing to the file.
    #[error("nothing was changed: somebody else keeps changing {path}")]
    Contended {
        /// The file.
        path: String,
    },
    /// The final text of the files was not the intended one.
    #[error("nothing was changed: the table was changed at the same time, so {path} is as it was")]
    TakenBack {
        /// The file.
        path: String,
    },
    /// Another process changed a file after it was written, so it was left as that process wrote it.
    #[error(
        "the change was given up, but somebody else changed {path} at the same time: see whether it \
         has the change"
    )]
    ChangedSince {
        /// The file.
        path: String,
        /// Why the change could not be committed, if that was the reason.
        #[source]
        source: Option<PublishError>,
    },
    /// The file cannot be committed.
    #[error("nothing was changed")]
    Commit(#[from] PublishError),
    /// A written change could not be reverted.
    #[error("the change cannot stay, and {path} cannot be restored")]
    Stuck {
        /// The file.
        path: String,
        /// The system error.
        #[source]
        source: io::Error,
    },
}

/// Writes the change that `decide` makes of the table at these paths, files and directories.
///
/// Waits for other writers. A file is replaced atomically, so that a reader sees it either without
/// the change or with it. In a `checkout`, the files are also committed, or restored.
///
/// # Errors
///
/// If `decide` fails, or a file cannot be read, written or committed; then nothing has changed.
pub(crate) fn change_in_files<C: TableChange, E: From<LocalError>>(
    paths: &[PathBuf],
    max_bytes: u64,
    checkout: Option<&UserCheckout>,
    mut decide: impl FnMut(&[SourceFile]) -> Result<C, E>,
) -> Result<C, E> {
    let _locks = lock(paths)?;
    let table = FileSource::new(paths.to_vec(), max_bytes);
    let mut path = String::new();
    for _ in 0..ATTEMPTS {
        let files = table.read_once().map_err(LocalError::from)?.files;
        let change = decide(&files)?;
        match change.edit().files.first() {
            None => return Ok(change),
            Some(first) => path = first.path.to_string(),
        }
        if apply(&change, &table, &files, checkout)? {
            return Ok(change);
        }
    }
    Err(LocalError::Contended { path }.into())
}

/// Writes a change that creates the table, in a file at this path; as [`change_in_files`] in all
/// else.
///
/// # Errors
///
/// If there is such a file, or it cannot be written or committed; then nothing has changed.
pub(crate) fn create_in_files<C: TableChange>(
    path: &Path,
    max_bytes: u64,
    checkout: Option<&UserCheckout>,
    change: C,
) -> Result<C, LocalError> {
    let paths = vec![path.to_owned()];
    let _locks = lock(&paths)?;
    let table = FileSource::new(paths, max_bytes);
    // There is no older text that somebody else could have changed.
    apply(&change, &table, &[], checkout)?;
    Ok(change)
}

/// Writes a change of a table that had these files, and commits it in a checkout; returns false if
/// somebody else has changed them since.
fn apply(
    change: &impl TableChange,
    table: &FileSource,
    files: &[SourceFile],
    checkout: Option<&UserCheckout>,
) -> Result<bool, LocalError> {
    let edit = change.edit();
    let Some(first) = edit.files.first() else {
        return Ok(true);
    };
    if let Some(checkout) = checkout {
        checkout.prepare(&edit.files)?;
    }
    let Some(written) = write_all(&edit.files, files)? else {
        return Ok(false);
    };
    let read = table.read_once();
    let refused = match checkout {
        _ if !read.is_ok_and(|it| has_change(it.files, change)) => LocalError::TakenBack {
            path: first.path.to_string(),
        },
        None => return Ok(true),
        Some(checkout) => match checkout.commit(&edit) {
            Ok(()) => return Ok(true),
            Err(error) => error.into(),
        },
    };
    Err(undone(&written, refused))
}

/// Locks the directories of a table, always in the same order. A missing one is skipped: that is
/// reported when it is read.
fn lock(paths: &[PathBuf]) -> Result<Vec<File>, LocalError> {
    let paths = paths.iter().filter_map(|path| fs::canonicalize(path).ok());
    let directories = paths.filter_map(|path| match path.is_dir() {
        true => Some(path),
        false => path.parent().map(Path::to_owned),
    });
    let directories: BTreeSet<_> = directories.collect();
    let lock = |path: PathBuf| {
        let locked = File::open(&path).and_then(|file| file.lock().map(|()| file));
        locked.map_err(|source| LocalError::Lock { path, source })
    };
    directories.into_iter().map(lock).collect()
}

/// Writes a file, unless it has changed since it was read.
fn write(file: &SourceFile, old: Option<&SourceFile>) -> Result<bool, LocalError> {
    let path = Path::new(&*file.path);
    let failed = |source| LocalError::Write {
        path: file.path.to_string(),
        source,
    };
    let Some(old) = old else {
        source::create(path, &file.bytes).map_err(failed)?;
        return Ok(true);
    };
    if fs::metadata(path).map_err(failed)?.permissions().readonly() {
        let path = file.path.to_string();
        return Err(LocalError::ReadOnly { path });
    }
    if fs::read(path).map_err(failed)? != old.bytes {
        return Ok(false);
    }
    source::replace(path, &file.bytes).map_err(failed)?;
    Ok(true)
}

/// A file that was written, and what it was before, if it existed.
type Written<'f> = (&'f SourceFile, Option<&'f SourceFile>);

/// Writes files, unless one of them has changed since they were read; returns what was written.
fn write_all<'f>(
    files: &'f [SourceFile],
    before: &'f [SourceFile],
) -> Result<Option<Vec<Written<'f>>>, LocalError> {
    let mut written = Vec::new();
    for file in files {
        let old = before.iter().find(|old| old.path == file.path);
        match write(file, old) {
            Ok(true) => written.push((file, old)),
            Ok(false) => {
                let path = file.path.to_string();
                return match undone(&written, LocalError::Contended { path }) {
                    LocalError::Contended { .. } | LocalError::ChangedSince { .. } => Ok(None),
                    error => Err(error),
                };
            }
            Err(error) => return Err(undone(&written, error)),
        }
    }
    Ok(Some(written))
}

/// Returns whether files have a change: usually, because they are those that were proved.
fn has_change(mut files: Vec<SourceFile>, change: &impl TableChange) -> bool {
    let mut proved: Vec<_> = change.proved().files.iter().collect();
    proved.sort_by(|a, b| a.path.cmp(&b.path));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if files.iter().eq(proved) {
        return true;
    }
    let proved = &change.proved().table.table;
    compile_after(&files, Some(proved))
        .table
        .is_some_and(|table| change.is_in(&table))
}

/// Reverts files that cannot stay; returns the reason, or that one was not reverted.
fn undone(written: &[Written<'_>], why: LocalError) -> LocalError {
    let mut why = why;
    for (file, old) in written {
        let path = file.path.to_string();
        match take_back(file, *old) {
            Ok(true) => {}
            Ok(false) => {
                why = match why {
                    LocalError::Stuck { .. } | LocalError::ChangedSince { .. } => why,
                    LocalError::Commit(error) => changed_since(path, Some(error)),
                    _ => changed_since(path, None),
                }
            }
            Err(source) => why = LocalError::Stuck { path, source },
        }
    }
    why
}

fn changed_since(path: String, source: Option<PublishError>) -> LocalError {
    LocalError::ChangedSince { path, source }
}

/// Restores the file and returns true, unless it has been changed since.
fn take_back(file: &SourceFile, old: Option<&SourceFile>) -> io::Result<bool> {
    let path = Path::new(&*file.path);
    if !fs::read(path).is_ok_and(|bytes| bytes == file.bytes) {
        return Ok(false);
    }
    match old {
        Some(old) => source::replace(path, &old.bytes)?,
        None => fs::remove_file(path)?,
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a directory with a file of that text.
    fn file(text: &str) -> (tempfile::TempDir, SourceFile) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mapping.yaml");
        fs::write(&path, text).unwrap();
        let file = SourceFile {
            path: path.to_str().unwrap().into(),
            bytes: text.into(),
        };
        (directory, file)
    }

    fn read(file: &SourceFile) -> String {
        fs::read_to_string(&*file.path).unwrap()
    }

    #[test]
    fn what_was_changed_since_it_was_read_is_not_replaced() {
        let (directory, first) = file("first");
        let path = directory.path().join("second.yaml");
        fs::write(&path, "second").unwrap();
        let second = SourceFile {
            path: path.to_str().unwrap().into(),
            bytes: "second".into(),
        };
        let before = [first.clone(), second.clone()];
        let new = before.clone().map(|file| SourceFile {
            bytes: b"new".to_vec(),
            ..file
        });
        fs::write(&path, "other").unwrap();
        assert!(write_all(&new, &before).unwrap().is_none());
        // What was written before is as it was.
        assert_eq!((&*read(&first), &*read(&second)), ("first", "other"));
        fs::write(&path, "second").unwrap();
        assert_eq!(write_all(&new, &before).unwrap().unwrap().len(), 2);
        assert_eq!((&*read(&first), &*read(&second)), ("new", "new"));
    }

    #[test]
    fn only_what_is_ours_is_taken_back() {
        let (_directory, ours) = file("ours");
        let old = SourceFile {
            bytes: b"old".to_vec(),
            ..ours.clone()
        };
        assert!(take_back(&ours, Some(&old)).unwrap());
        assert_eq!(read(&ours), "old");
        assert!(!take_back(&ours, None).unwrap());
        assert_eq!(read(&ours), "old");
        assert!(take_back(&old, None).unwrap());
        assert!(!Path::new(&*ours.path).exists());
    }

    #[test]
    fn a_file_is_said_to_be_as_it_was_only_if_it_is() {
        let (_directory, ours) = file("ours");
        let old = SourceFile {
            bytes: b"old".to_vec(),
            ..ours.clone()
        };
        let why = || {
            let path = ours.path.to_string();
            undone(&[(&ours, Some(&old))], LocalError::TakenBack { path })
        };
        assert!(matches!(why(), LocalError::TakenBack { .. }));
        // An editor that had read what was written has added a line.
        fs::write(&*ours.path, "ours and more").unwrap();
        assert!(matches!(why(), LocalError::ChangedSince { .. }));
        assert_eq!(read(&ours), "ours and more");
    }
}
