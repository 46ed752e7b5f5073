//! Registers in local files, one writer at a time.
//!
//! A writer has a lock (`flock`) on each directory with files of the table, from reading them until
//! they are written. It leaves nothing behind, and ends with its process. Changes by programs that
//! do not lock, such as an editor, are detected unless they are written at the very same moment.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::checkout::UserCheckout;
use super::online::message;
use super::publish_error::PublishError;
use crate::mapping::{SourceFile, Timestamp, compile};
use crate::registry::decide::{Registration, RegistrationRefusal, RegistrationRequest, register};
use crate::source::{self, FileSource, FilesError};

/// The number of attempts when another process has written to the file.
const ATTEMPTS: usize = 5;

/// Why nothing was registered.
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
    #[error("nothing was added: {path} is read-only")]
    ReadOnly {
        /// The file.
        path: String,
    },
    /// A file cannot be written.
    #[error("nothing was added: cannot write {path}")]
    Write {
        /// The file.
        path: String,
        /// The system error.
        #[source]
        source: io::Error,
    },
    /// Another process keeps writing to the file.
    #[error("nothing was added: somebody else keeps changing {path}")]
    Contended {
        /// The file.
        path: String,
    },
    /// The final text of the files was not the intended one.
    #[error("nothing was added: the table was changed at the same time, so {path} is as it was")]
    TakenBack {
        /// The file.
        path: String,
    },
    /// The file cannot be committed.
    #[error("nothing was added")]
    Commit(#[from] PublishError),
    /// A written change could not be reverted.
    #[error("the entry cannot stay, and {path} cannot be brought back")]
    Stuck {
        /// The file.
        path: String,
        /// The system error.
        #[source]
        source: io::Error,
    },
}

/// Registers a request in the table at these paths, files and directories, and writes it.
///
/// Waits for other writers. A file is replaced atomically, so that a reader sees it either without
/// the entry or with it. In a `checkout`, it is also committed, or restored.
///
/// # Errors
///
/// If the request is refused, or a file cannot be read, written or committed; then nothing has
/// changed.
pub fn register_in_files(
    paths: &[PathBuf],
    max_bytes: u64,
    request: &RegistrationRequest,
    now: Timestamp,
    checkout: Option<&UserCheckout>,
) -> Result<Registration, LocalError> {
    let _locks = lock(paths)?;
    let table = FileSource::new(paths.to_vec(), max_bytes);
    let mut path = String::new();
    for _ in 0..ATTEMPTS {
        let files = table.read_once()?.files;
        let registration = register(&files, request, max_bytes, now)?;
        path = registration.file.path.to_string();
        let old = files.iter().find(|file| *file.path == *path);
        if let Some(checkout) = checkout {
            checkout.prepare(Path::new(&path))?;
        }
        if !write(&registration.file, old)? {
            continue;
        }
        let read = table.read_once();
        let refused = match checkout {
            _ if !read.is_ok_and(|it| has_link(it.files, &registration)) => {
                LocalError::TakenBack { path: path.clone() }
            }
            None => return Ok(registration),
            Some(checkout) => match checkout.commit(Path::new(&path), &message(&registration)) {
                Ok(()) => return Ok(registration),
                Err(error) => error.into(),
            },
        };
        return Err(undone(&registration.file, old, refused));
    }
    Err(LocalError::Contended { path })
}

/// Locks the directories of a table, always in the same order. A missing one is skipped: that is
/// reported when it is read.
pub(crate) fn lock(paths: &[PathBuf]) -> Result<Vec<File>, LocalError> {
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
pub(crate) fn write(file: &SourceFile, old: Option<&SourceFile>) -> Result<bool, LocalError> {
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

/// Returns whether a table has the link of a registration: usually, because its files are those
/// that were proved.
fn has_link(mut files: Vec<SourceFile>, registration: &Registration) -> bool {
    let mut proved: Vec<_> = registration.proved.files.iter().collect();
    proved.sort_by(|a, b| a.path.cmp(&b.path));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if files.iter().eq(proved) {
        return true;
    }
    compile(&files).table.is_some_and(|table| {
        let entries = table
            .sites()
            .iter()
            .filter_map(|site| site.lookup(&registration.code));
        let mut links = entries.map(|entry| (entry.short_url(), entry.target()));
        links.any(|(short_url, target)| {
            short_url == registration.short_url && target.as_deref() == Some(&*registration.target)
        })
    })
}

/// Reverts a file that cannot stay; returns the reason, or that it could not be reverted.
pub(crate) fn undone(file: &SourceFile, old: Option<&SourceFile>, why: LocalError) -> LocalError {
    match take_back(file, old) {
        Ok(()) => why,
        Err(source) => LocalError::Stuck {
            path: file.path.to_string(),
            source,
        },
    }
}

/// Restores the file, unless it has been changed since.
fn take_back(file: &SourceFile, old: Option<&SourceFile>) -> io::Result<()> {
    let path = Path::new(&*file.path);
    let is_ours = fs::read(path).is_ok_and(|bytes| bytes == file.bytes);
    match old {
        _ if !is_ours => Ok(()),
        Some(old) => source::replace(path, &old.bytes),
        None => fs::remove_file(path),
    }
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
        let (_directory, file) = file("base_url: https://s.code/\nmapping: []\n");
        let request = RegistrationRequest {
            url: "https://e.org/".to_owned(),
            ..RegistrationRequest::default()
        };
        let registered = register(
            std::slice::from_ref(&file),
            &request,
            1 << 20,
            Timestamp::MIN,
        )
        .unwrap();
        fs::write(&*file.path, "other").unwrap();
        assert!(!write(&registered.file, Some(&file)).unwrap());
        assert_eq!(read(&file), "other");
        fs::write(&*file.path, &file.bytes).unwrap();
        assert!(write(&registered.file, Some(&file)).unwrap());
        assert!(read(&file).ends_with("mapping:\n- url: https://e.org/\n"));
        assert!(has_link(vec![registered.file.clone()], &registered));
        assert!(!has_link(vec![file.clone()], &registered));
        // Somebody else may have changed another part meanwhile.
        let bytes = [&registered.file.bytes[..], b"tests: []\n"].concat();
        assert!(has_link(vec![SourceFile { bytes, ..file }], &registered));
    }

    #[test]
    fn only_what_is_ours_is_taken_back() {
        let (_directory, ours) = file("ours");
        let old = SourceFile {
            bytes: b"old".to_vec(),
            ..ours.clone()
        };
        take_back(&ours, Some(&old)).unwrap();
        assert_eq!(read(&ours), "old");
        take_back(&ours, None).unwrap();
        assert_eq!(read(&ours), "old");
        take_back(&old, None).unwrap();
        assert!(!Path::new(&*ours.path).exists());
    }
}
