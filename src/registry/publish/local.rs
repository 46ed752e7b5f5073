//! Changes local files, one writer at a time.
//!
//! A writer has a lock (`flock`) on each directory with files of the table, from reading them until
//! they are written. It leaves no file, and ends with its process. Changes by programs that do not
//! lock, such as an editor, are detected unless they are written at the very same moment.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::checkout::UserCheckout;
use super::publish_error::PublishError;
use super::table_change::TableChange;
use crate::registry::decide::RegistrationRefusal;
use crate::registry::text::{TableText, TextFile, compile_text};
use crate::source::{self, FileSource, FileState, FilesError, StoredFile};

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
    #[error("nothing was changed: another process keeps changing {path}")]
    Contended {
        /// The file.
        path: String,
    },
    /// The final text of the files is not the intended one.
    #[error("nothing was changed: the table was changed at the same time, so {path} is as it was")]
    TakenBack {
        /// The file.
        path: String,
    },
    /// Another process changed a file after it was written, so it was left as that process wrote it.
    #[error(
        "the change was abandoned, but another process changed {path} at the same time: check \
         whether it contains the change"
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
    #[error("the change cannot be kept, and {path} cannot be restored")]
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
    mut decide: impl FnMut(&TableText) -> Result<C, E>,
) -> Result<C, E> {
    let _locks = lock(paths)?;
    let table = FileSource::new(paths.to_vec(), max_bytes);
    let mut path = String::new();
    for _ in 0..ATTEMPTS {
        let before = BeforeChange::read(&table).map_err(LocalError::from)?;
        let decided = decide(&before.text);
        if let Some(changed) = before.files().iter().find(|file| !file.is_there()) {
            path = changed.path.to_string();
            continue;
        }
        let change = decided?;
        match change.edit().files.first() {
            None => return Ok(change),
            Some(first) => path = first.path.to_string(),
        }
        if apply(&change, &table, &before, checkout)? {
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
    // There is no older text that another process could have changed.
    apply(&change, &table, &BeforeChange::none(), checkout)?;
    Ok(change)
}

/// The files of a table before a change.
struct BeforeChange {
    text: TableText,
    /// The metadata of each, unless that does not identify its content.
    states: Vec<Option<FileState>>,
}

impl BeforeChange {
    fn read(table: &FileSource) -> Result<Self, FilesError> {
        let (text, states) = TableText::read(table, StoredFile::state)?;
        Ok(Self { text, states })
    }

    fn none() -> Self {
        Self {
            text: Vec::new().into(),
            states: Vec::new(),
        }
    }

    fn files(&self) -> &[TextFile] {
        self.text.files()
    }

    /// Returns the metadata of all files once some of them were written, if it identifies their content.
    fn with(&self, written: &[WrittenFile<'_>]) -> Option<Vec<FileState>> {
        let own = self.files().iter().zip(&self.states);
        let mut own = own.filter(|(file, _)| written.iter().all(|it| it.file.path != file.path));
        let unchanged: Option<Vec<_>> = own.by_ref().map(|(_, state)| state.clone()).collect();
        let written = written.iter().map(|it| it.state.clone());
        Some(unchanged?.into_iter().chain(written).collect())
    }
}

/// Writes a change of a table that had these files, and commits it in a checkout; returns false if
/// another process has changed them since.
fn apply(
    change: &impl TableChange,
    table: &FileSource,
    before: &BeforeChange,
    checkout: Option<&UserCheckout>,
) -> Result<bool, LocalError> {
    let edit = change.edit();
    let Some(first) = edit.files.first() else {
        return Ok(true);
    };
    if let Some(checkout) = checkout {
        checkout.prepare(&edit.files)?;
    }
    let Some(written) = write_all(&edit.files, before.files())? else {
        return Ok(false);
    };
    let states = before.with(&written);
    let is_as_written = states.is_some_and(|states| table.looks_like(&states));
    let refused = match checkout {
        _ if !is_as_written && !has_change(table, change) => LocalError::TakenBack {
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

/// Writes a file, unless it has changed since it was read, and returns its metadata then.
fn write(file: &TextFile, old: Option<&TextFile>) -> Result<Option<FileState>, LocalError> {
    let path = Path::new(&*file.path);
    let failed = |source| LocalError::Write {
        path: file.path.to_string(),
        source,
    };
    let Some(old) = old else {
        let created = source::create_with(path, |to| file.write_to(to));
        return created.map(Some).map_err(failed);
    };
    if fs::metadata(path).map_err(failed)?.permissions().readonly() {
        let path = file.path.to_string();
        return Err(LocalError::ReadOnly { path });
    }
    // A change that the metadata does not show is found at the last look.
    if old.hold().is_err() {
        return Ok(None);
    }
    let mut has_changed = false;
    let replaced = source::replace_with(path, |to| {
        let written = file.write_to(to);
        // Before the last look at the old file: this may take seconds.
        to.sync_all()?;
        has_changed = !has_content(path, old)?;
        match has_changed {
            true => Err(io::Error::other("it was changed at the same time")),
            false => written,
        }
    });
    match replaced {
        Err(_) if has_changed => Ok(None),
        replaced => replaced.map(Some).map_err(failed),
    }
}

/// Returns whether the file at a path has a content.
fn has_content(path: &Path, content: &TextFile) -> io::Result<bool> {
    if content.is_current() {
        return Ok(true);
    }
    source::has_content(path, content.cut()).map_err(io::Error::other)
}

/// A file that was written.
struct WrittenFile<'f> {
    file: &'f TextFile,
    /// What it was before, if it existed.
    old: Option<&'f TextFile>,
    state: FileState,
}

/// Writes files, unless one of them has changed since they were read; returns what was written.
fn write_all<'f>(
    files: &'f [TextFile],
    before: &'f [TextFile],
) -> Result<Option<Vec<WrittenFile<'f>>>, LocalError> {
    let mut written = Vec::new();
    for file in files {
        let old = before.iter().find(|old| old.path == file.path);
        match write(file, old) {
            Ok(Some(state)) => written.push(WrittenFile { file, old, state }),
            Ok(None) => {
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

/// Returns whether a table has a change: usually it does, because its files are the proved ones.
fn has_change(table: &FileSource, change: &impl TableChange) -> bool {
    let Ok(read) = table.read_stored() else {
        return false;
    };
    let mut files: Vec<_> = read.into_iter().map(TextFile::from).collect();
    let mut proved: Vec<_> = change.proved().files.iter().collect();
    proved.sort_by(|a, b| a.path.cmp(&b.path));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if files.iter().eq(proved) {
        return true;
    }
    let proved = &change.proved().table.table;
    let table = compile_text(&files, Some(proved)).and_then(|it| it.table);
    table.is_some_and(|table| change.is_in(&table))
}

/// Reverts files; returns the reason, or the error that one was not reverted.
fn undone(written: &[WrittenFile<'_>], why: LocalError) -> LocalError {
    let mut why = why;
    for WrittenFile { file, old, .. } in written {
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
fn take_back(file: &TextFile, old: Option<&TextFile>) -> io::Result<bool> {
    let path = Path::new(&*file.path);
    if !has_content(path, file).unwrap_or(false) {
        return Ok(false);
    }
    match old {
        Some(old) => source::replace_with(path, |to| old.write_to(to)).map(drop)?,
        None => fs::remove_file(path)?,
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::SourceFile;

    /// Returns a directory with a file of that text.
    fn file(text: &str) -> (tempfile::TempDir, TextFile) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mapping.yaml");
        fs::write(&path, text).unwrap();
        (directory, of(&path, text))
    }

    /// Returns a file whose text is not on the disk.
    fn of(path: &Path, text: &str) -> TextFile {
        SourceFile::new(path.to_str().unwrap().into(), text.into()).into()
    }

    fn read(file: &TextFile) -> String {
        fs::read_to_string(&*file.path).unwrap()
    }

    #[test]
    fn what_was_changed_since_it_was_read_is_not_replaced() {
        let (directory, first) = file("first");
        let path = directory.path().join("second.yaml");
        fs::write(&path, "second").unwrap();
        let second = of(&path, "second");
        let before = [first.clone(), second.clone()];
        let new = before.clone().map(|file| of(Path::new(&*file.path), "new"));
        fs::write(&path, "other").unwrap();
        assert!(write_all(&new, &before).unwrap().is_none());
        // The files written earlier are restored.
        assert_eq!((&*read(&first), &*read(&second)), ("first", "other"));
        fs::write(&path, "second").unwrap();
        assert_eq!(write_all(&new, &before).unwrap().unwrap().len(), 2);
        assert_eq!((&*read(&first), &*read(&second)), ("new", "new"));
    }

    #[test]
    fn only_what_is_ours_is_taken_back() {
        let (_directory, ours) = file("ours");
        let old = of(Path::new(&*ours.path), "old");
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
        let old = of(Path::new(&*ours.path), "old");
        let path = Path::new(&*ours.path);
        let state = source::replace_with(path, |to| ours.write_to(to)).unwrap();
        let why = || {
            let path = ours.path.to_string();
            let written = WrittenFile {
                file: &ours,
                old: Some(&old),
                state: state.clone(),
            };
            undone(&[written], LocalError::TakenBack { path })
        };
        assert!(matches!(why(), LocalError::TakenBack { .. }));
        // An editor that had read the new text has added a line.
        fs::write(&*ours.path, "ours and more").unwrap();
        assert!(matches!(why(), LocalError::ChangedSince { .. }));
        assert_eq!(read(&ours), "ours and more");
    }
}
