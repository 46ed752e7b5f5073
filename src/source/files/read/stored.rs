//! Files that were read and cut, and whose text stays on the disk: for writers, which read a few parts of
//! it again and copy the rest.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use super::reading::FileSource;
use super::steps::{FileSteps, Hashing, STEP, cut_all, open};
use crate::mapping::{Cut, CutCheck, Cutter, FirstReading, KnownPieces};
use crate::source::files::inspect::{FilesError, Listing, Stamp};

/// A file as it was read. Its text is there as long as nobody replaces it or writes to it.
///
/// Only a file that is [held](Self::hold) is open: a table may have more files than a process may
/// have open.
#[derive(Debug)]
pub struct StoredFile {
    path: PathBuf,
    cut: Arc<Cut>,
    held: OnceLock<File>,
    stamp: Stamp,
    read_at: SystemTime,
}

/// The metadata of a file at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    path: PathBuf,
    stamp: Stamp,
}

impl FileSource {
    /// Reads the table as it is, without waiting for anyone and without keeping its text.
    ///
    /// # Errors
    ///
    /// As [`read_once`](Self::read_once).
    pub fn read_stored(&self) -> Result<Vec<StoredFile>, FilesError> {
        self.stored(None)
    }

    /// Reads the table as [`read_stored`](Self::read_stored) does, and compiles it meanwhile.
    ///
    /// # Errors
    ///
    /// As [`read_once`](Self::read_once).
    pub fn compile_stored(&self, first: &FirstReading) -> Result<Vec<StoredFile>, FilesError> {
        first.begin();
        self.stored(Some(first))
    }

    fn stored(&self, first: Option<&FirstReading>) -> Result<Vec<StoredFile>, FilesError> {
        let listing = Listing::of(self.paths())?;
        let max = self.max_bytes();
        let stamps = listing.all_stamps(&listing.stamps(), max)?;
        let mut left = max;
        let mut files = Vec::with_capacity(stamps.len());
        for file in listing.files() {
            let file = StoredFile::read(&file.path(), (left, max), first)?;
            left = left.saturating_sub(file.cut.size());
            files.push(file);
        }
        let is_steady = (files.iter().map(|file| &file.stamp)).eq(&stamps)
            && listing.is_current(self.paths(), &stamps);
        match is_steady {
            true => Ok(files),
            false => Err(self.still_being_written()),
        }
    }

    /// Returns whether the table has just the files with these states, and none looks different.
    pub fn looks_like(&self, states: &[FileState]) -> bool {
        let known: HashMap<_, _> = states.iter().map(|it| (&*it.path, it.stamp)).collect();
        Listing::of(self.paths()).is_ok_and(|listing| {
            let stamps = listing.stamps();
            let mut each = listing.files().zip(&stamps);
            stamps.len() == states.len()
                && each
                    .all(|(file, now)| now.is_some() && *now == known.get(&*file.path()).copied())
        })
    }
}

impl StoredFile {
    /// Reads a file, of which `left` bytes may be read of `max` for the whole table, and compiles it
    /// meanwhile if its text is not needed for that.
    fn read(
        path: &Path,
        (left, max): (u64, u64),
        first: Option<&FirstReading>,
    ) -> Result<Self, FilesError> {
        let open = || FileSteps::open(path, (left, max), Hashing::None);
        let read_at = SystemTime::now();
        let mut compiled = None;
        if let Some(first) = first {
            let mut steps = open()?;
            let shown = path.to_string_lossy().into();
            let cut = steps.compile(&shown, first)?;
            compiled = cut.map(|cut| (steps, cut));
        }
        let (steps, cut) = match compiled {
            Some(compiled) => compiled,
            None => {
                let mut steps = open()?;
                let cut = cut(steps.size().min(left), |buffer| steps.read(buffer))?;
                (steps, cut)
            }
        };
        let (stamp, _) = steps.finish();
        Ok(Self {
            path: path.to_owned(),
            cut: Arc::new(cut),
            held: OnceLock::new(),
            stamp,
            read_at,
        })
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns where it was cut.
    pub fn cut(&self) -> &Arc<Cut> {
        &self.cut
    }

    /// Returns its metadata as of when it was read, unless it may have changed since without looking
    /// different.
    pub fn state(&self) -> Option<FileState> {
        (!self.stamp.is_racy(self.read_at)).then(|| FileState {
            path: self.path.clone(),
            stamp: self.stamp,
        })
    }

    /// Returns whether the path is certain to have this text still, without reading it.
    pub fn is_current(&self) -> bool {
        let now = Stamp::of(&self.path);
        now.is_ok_and(|now| now == self.stamp) && !self.stamp.is_racy(self.read_at)
    }

    /// Reads some bytes.
    ///
    /// # Errors
    ///
    /// If the file was written to since it was read, or it cannot be read.
    pub fn read_range(&self, range: Range<usize>) -> io::Result<Vec<u8>> {
        self.with_file(|file| {
            let mut bytes = vec![0; range.len()];
            file.read_exact_at(&mut bytes, range.start as u64)?;
            Ok(bytes)
        })
    }

    /// Copies some bytes to another file, without reading them where the system can do that.
    ///
    /// # Errors
    ///
    /// If the file was written to since it was read, or it cannot be copied.
    pub fn copy_range(&self, range: Range<usize>, to: &mut File) -> io::Result<()> {
        self.with_file(|mut file| {
            file.seek(SeekFrom::Start(range.start as u64))?;
            let copied = io::copy(&mut file.take(range.len() as u64), to)?;
            match copied == range.len() as u64 {
                true => Ok(()),
                false => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        })
    }

    /// Keeps the file open, so that its text is there after its path is given to another file.
    ///
    /// # Errors
    ///
    /// If the file was written to since it was read, or it cannot be opened.
    pub fn hold(&self) -> io::Result<()> {
        if self.held.get().is_none() {
            let _ = self.held.set(self.opened()?);
        }
        Ok(())
    }

    /// Opens the file.
    fn opened(&self) -> io::Result<File> {
        let (_, file) = open(&self.path).map_err(io::Error::other)?;
        self.check(&file)?;
        Ok(file)
    }

    /// Reads from the file, to which nobody may have written, neither before nor meanwhile.
    fn with_file<T>(&self, read: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        let opened;
        let file = match self.held.get() {
            Some(held) => held,
            None => {
                opened = self.opened()?;
                &opened
            }
        };
        let found = read(file)?;
        self.check(file)?;
        Ok(found)
    }

    /// Checks that nobody has written to the file; it may have another name by now, or none.
    fn check(&self, file: &File) -> io::Result<()> {
        let now = Stamp::of_regular(&self.path, &file.metadata()?);
        match now.is_ok_and(|now| now.has_same_content_times(&self.stamp)) {
            true => Ok(()),
            false => Err(io::Error::other("it has changed")),
        }
    }
}

impl FileState {
    /// Returns the metadata of an open file with a path.
    pub(in crate::source::files) fn of(path: &Path, file: &File) -> io::Result<Self> {
        let stamp = Stamp::of_regular(path, &file.metadata()?);
        Ok(Self {
            path: path.to_owned(),
            stamp: stamp.map_err(io::Error::other)?,
        })
    }
}

/// Returns whether the file at a path has the content of one that was cut.
///
/// # Errors
///
/// If it cannot be read.
pub fn has_content(path: &Path, cut: &Cut) -> Result<bool, FilesError> {
    let (_, file) = open(path)?;
    let is_same = has_content_of(file, cut);
    is_same.map_err(|error| FilesError::from_io(path, error))
}

/// Returns whether an open file, which was written, has the content of one that was cut.
///
/// # Errors
///
/// If it cannot be read.
pub fn was_written(file: &mut File, cut: &Cut) -> io::Result<bool> {
    file.rewind()?;
    has_content_of(file, cut)
}

/// Returns whether a reader reads the content of a file that was cut.
fn has_content_of(mut reader: impl Read, cut: &Cut) -> io::Result<bool> {
    let mut check = CutCheck::new(cut);
    let mut buffer = Vec::with_capacity(STEP);
    while reader.by_ref().take(STEP as u64).read_to_end(&mut buffer)? > 0 {
        check.push(&buffer);
        buffer.clear();
    }
    Ok(check.finish())
}

/// Cuts a file, whose text is not kept; `read` appends its next bytes, and returns how many, or 0 at its
/// end.
fn cut<E>(size: u64, read: impl FnMut(&mut Vec<u8>) -> Result<usize, E>) -> Result<Cut, E> {
    let none = KnownPieces::default();
    let mut cutter = Cutter::new(size, &none).without_text();
    cut_all(&mut cutter, read)?;
    let cut = cutter.finish("".into()).cut;
    Ok(Arc::try_unwrap(cut).expect("nothing else has it"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_is_longer_than_its_metadata_say_is_read_up_to_the_limit() {
        // It has no size in its metadata.
        let path = Path::new("/proc/self/status");
        match StoredFile::read(path, (10, 30), None) {
            Err(FilesError::TooLarge { size, max, .. }) => assert_eq!((size, max), (31, 30)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_a_held_file_has_its_text_after_it_was_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let paths = ["a.yaml", "b.yaml"].map(|name| directory.path().join(name));
        for path in &paths {
            fs::write(path, "mapping: []\n").unwrap();
        }
        let source = FileSource::new(vec![directory.path().to_owned()], 1 << 20);
        let [held, other] = source.read_stored().unwrap().try_into().unwrap();
        assert_eq!(other.read_range(0..7).unwrap(), b"mapping");
        held.hold().unwrap();
        for path in &paths {
            let new = directory.path().join("new");
            fs::write(&new, "mapping: [] # new\n").unwrap();
            fs::rename(&new, path).unwrap();
        }
        assert_eq!(held.read_range(0..7).unwrap(), b"mapping");
        assert!(other.read_range(0..7).is_err());
        assert!(other.hold().is_err());
    }
}
