//! Reading a file step by step, within the bound on the bytes of a table.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use git2::Oid;
use sha1::{Digest as _, Sha1};

use super::threads::Threads;
use crate::mapping::{Cut, Cutter, FirstReading};
use crate::source::files::inspect::{FilesError, Stamp};

/// How much of a file is read at once, in bytes.
pub(crate) const STEP: usize = 128 << 10;

/// Whether the identity of a file in Git is needed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hashing {
    None,
    Blob,
}

/// A file that is read step by step.
pub(super) struct FileSteps<'p> {
    path: &'p Path,
    /// Its metadata as of when it was opened.
    stamp: Stamp,
    file: File,
    /// The hash of its content in Git, if that is needed.
    blob: Option<Sha1>,
    /// How many bytes were read, and how many may be.
    total: u64,
    left: u64,
    max: u64,
}

impl<'p> FileSteps<'p> {
    /// Opens a file, of which `left` bytes may be read of `max` for the whole table.
    pub(super) fn open(
        path: &'p Path,
        (left, max): (u64, u64),
        hashing: Hashing,
    ) -> Result<Self, FilesError> {
        let (stamp, file) = open(path)?;
        let blob = (hashing == Hashing::Blob).then(|| {
            // An object of Git is hashed with its kind and size (gitformat-loose(5)).
            Sha1::new().chain_update(format!("blob {}\0", stamp.size))
        });
        Ok(Self {
            path,
            stamp,
            file,
            blob,
            total: 0,
            left,
            max,
        })
    }

    /// Returns its size in bytes as of when it was opened.
    pub(super) fn size(&self) -> u64 {
        self.stamp.size
    }

    /// Appends the next bytes to a buffer, and returns how many; 0 at the end of the file.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>) -> Result<usize, FilesError> {
        let failed = |error| FilesError::from_io(self.path, error);
        // One byte more than allowed shows that it grew meanwhile.
        let most = (STEP as u64).min(self.left.saturating_sub(self.total).saturating_add(1));
        let count = (&mut self.file).take(most).read_to_end(buffer);
        let count = count.map_err(failed)?;
        self.total += count as u64;
        if self.total > self.left {
            // It grew meanwhile: more of it was read than is left.
            let size = self.max - self.left + self.total;
            return Err(FilesError::too_large(self.path, size, self.max));
        }
        if let Some(blob) = &mut self.blob {
            blob.update(&buffer[buffer.len() - count..]);
        }
        Ok(count)
    }

    /// Reads the file to its end, and compiles it meanwhile; `None` if its text is needed.
    pub(super) fn compile(
        &mut self,
        shown: &Arc<str>,
        first: &FirstReading,
    ) -> Result<Option<Cut>, FilesError> {
        let size = self.size();
        let read = |buffer: &mut Vec<u8>| self.read(buffer);
        first.read(shown, size, read, &Threads::for_file(size))
    }

    /// Returns the metadata of the file as of when it was opened, and its identity in Git.
    pub(super) fn finish(self) -> (Stamp, Option<Oid>) {
        let blob = self.blob.filter(|_| self.total == self.stamp.size);
        let blob = blob.and_then(|blob| Oid::from_bytes(&blob.finalize()).ok());
        (self.stamp, blob)
    }
}

/// Cuts a text to its end; `read` appends its next bytes, and returns how many, or 0 at the end.
pub(super) fn cut_all<E>(
    cutter: &mut Cutter<'_>,
    mut read: impl FnMut(&mut Vec<u8>) -> Result<usize, E>,
) -> Result<(), E> {
    let mut buffer = Vec::with_capacity(STEP);
    while read(&mut buffer)? > 0 {
        cutter.push(&buffer);
        buffer.clear();
    }
    Ok(())
}

/// Opens a regular file for reading, without waiting for a writer if it has become a pipe.
pub(super) fn open(path: &Path) -> Result<(Stamp, File), FilesError> {
    let failed = |error| FilesError::from_io(path, error);
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .map_err(failed)?;
    let stamp = Stamp::of_regular(path, &file.metadata().map_err(failed)?)?;
    Ok((stamp, file))
}
