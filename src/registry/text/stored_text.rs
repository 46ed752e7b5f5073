//! Stored text: what a file had when it was read, and still has.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Write as _};
use std::ops::Range;

use crate::source::StoredFile;

/// The text of a file, wherever it is stored.
pub trait StoredText: Debug + Send + Sync {
    /// Returns some bytes; `None` if they are not there any more.
    fn read(&self, range: Range<usize>) -> Option<Vec<u8>>;

    /// Copies some bytes to a file.
    ///
    /// # Errors
    ///
    /// If they are not there any more, or cannot be written.
    fn copy_to(&self, range: Range<usize>, to: &mut File) -> io::Result<()> {
        let bytes = self.read(range);
        to.write_all(&bytes.ok_or_else(|| io::Error::other("its text has changed"))?)
    }

    /// Returns whether the text is certain to be where it was read.
    fn is_current(&self) -> bool {
        false
    }

    /// Keeps the text where it is, even if another one takes its place.
    ///
    /// # Errors
    ///
    /// If it is not there any more.
    fn hold(&self) -> io::Result<()> {
        Ok(())
    }
}

impl StoredText for StoredFile {
    fn read(&self, range: Range<usize>) -> Option<Vec<u8>> {
        self.read_range(range).ok()
    }

    fn copy_to(&self, range: Range<usize>, to: &mut File) -> io::Result<()> {
        self.copy_range(range, to)
    }

    fn is_current(&self) -> bool {
        StoredFile::is_current(self)
    }

    fn hold(&self) -> io::Result<()> {
        StoredFile::hold(self)
    }
}

impl StoredText for Vec<u8> {
    fn read(&self, range: Range<usize>) -> Option<Vec<u8>> {
        self.get(range).map(<[u8]>::to_vec)
    }
}
