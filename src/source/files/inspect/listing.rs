//! Listing the files of a table, with their metadata.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::error::FilesError;
use super::stamp::{OpenDirectory, Stamp};
use crate::mapping::is_table_name;

/// The files that some paths name, in the order in which they are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listing {
    /// The given paths that were found. A path that is repeated counts once.
    pub(crate) parts: Vec<Part>,
}

/// A file or directory that was named as a table, or as a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Which of the given paths it is, from 0.
    pub(crate) number: usize,
    /// The path as it was given.
    pub(crate) path: PathBuf,
    /// The names of its table files, sorted, if it is a directory.
    pub(crate) names: Option<Vec<OsString>>,
}

/// A file of a listing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListedFile<'a> {
    pub(crate) part: &'a Part,
    /// Its name, if the part is a directory.
    pub(crate) name: Option<&'a OsStr>,
}

impl Listing {
    /// Lists the files that paths name: a file itself, or each table file directly in a directory.
    pub(crate) fn of(paths: &[PathBuf]) -> Result<Self, FilesError> {
        match Self::found(paths) {
            (listing, None) => Ok(listing),
            (_, Some(error)) => Err(error),
        }
    }

    /// Lists the files that are found, with the first error if some are not.
    pub(crate) fn found(paths: &[PathBuf]) -> (Self, Option<FilesError>) {
        let mut parts = Vec::with_capacity(paths.len());
        let mut error = None;
        let mut seen = HashSet::with_capacity(paths.len());
        for (number, path) in paths.iter().enumerate() {
            if !seen.insert(path) {
                continue;
            }
            match Part::found(path, number) {
                Ok(part) => parts.push(part),
                Err(failed) => {
                    error.get_or_insert(failed);
                }
            }
        }
        (Self { parts }, error)
    }

    /// Returns every file.
    pub(crate) fn files(&self) -> impl Iterator<Item = ListedFile<'_>> {
        self.parts.iter().flat_map(Part::files)
    }

    /// Returns the current metadata of each file that can be read.
    pub(crate) fn stamps(&self) -> Vec<Option<Stamp>> {
        let mut stamps = self.direct_stamps();
        self.complete(&mut stamps);
        stamps
    }

    /// Returns whether the paths still name these files, and each has this metadata.
    pub(crate) fn is_current(&self, paths: &[PathBuf], stamps: &[Stamp]) -> bool {
        let now = self.stamps();
        (now.iter().map(Option::as_ref)).eq(stamps.iter().map(Some))
            && Self::of(paths).is_ok_and(|now| now == *self)
    }

    /// Returns the current metadata of each regular file in a named directory, and `None` for a link
    /// or a file that is named itself.
    pub(super) fn direct_stamps(&self) -> Vec<Option<Stamp>> {
        let stamps = self.parts.iter().flat_map(|part| {
            let directory = part.names.as_ref().and_then(|_| {
                // Without it, each file is looked up by its path.
                OpenDirectory::open(&part.path).ok()
            });
            part.files()
                .map(move |file| directory.as_ref()?.stamp(file.name?))
        });
        stamps.collect()
    }

    /// Adds the metadata of the other files to the result of [`direct_stamps`](Self::direct_stamps).
    pub(super) fn complete(&self, stamps: &mut [Option<Stamp>]) {
        for (file, stamp) in self.files().zip(stamps) {
            if stamp.is_none() {
                *stamp = Stamp::of(&file.path()).ok();
            }
        }
    }

    /// Returns the metadata of all files, given that of those that could be read.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or they have more than `max` bytes together: that is refused before
    /// any of it is in memory.
    pub(crate) fn all_stamps(
        &self,
        stamps: &[Option<Stamp>],
        max: u64,
    ) -> Result<Vec<Stamp>, FilesError> {
        let stamps = (self.files().zip(stamps))
            .map(|(file, stamp)| stamp.map_or_else(|| Stamp::of(&file.path()), Ok))
            .collect::<Result<Vec<_>, _>>()?;
        let total = (stamps.iter()).fold(0_u64, |total, stamp| total.saturating_add(stamp.size));
        let mut sum = 0_u64;
        let over = stamps.iter().position(|stamp| {
            sum = sum.saturating_add(stamp.size);
            sum > max
        });
        match over.and_then(|at| self.files().nth(at)) {
            Some(file) => Err(FilesError::too_large(&file.path(), total, max)),
            None => Ok(stamps),
        }
    }
}

impl Part {
    fn found(path: &Path, number: usize) -> Result<Self, FilesError> {
        let metadata = fs::metadata(path).map_err(|e| FilesError::from_io(path, e))?;
        let names = metadata.is_dir().then(|| table_names(path)).transpose()?;
        Ok(Self {
            number,
            path: path.to_owned(),
            names,
        })
    }

    fn files(&self) -> impl Iterator<Item = ListedFile<'_>> {
        let itself = self.names.is_none().then_some(None);
        let names = self.names.iter().flatten();
        let names = itself.into_iter().chain(names.map(|name| Some(&**name)));
        names.map(|name| ListedFile { part: self, name })
    }
}

impl<'a> ListedFile<'a> {
    /// Returns its path, through the path that was given.
    pub(crate) fn path(self) -> Cow<'a, Path> {
        match self.name {
            Some(name) => Cow::Owned(self.part.path.join(name)),
            None => Cow::Borrowed(&self.part.path),
        }
    }
}

/// Returns the names of the table files directly in a directory, sorted.
fn table_names(directory: &Path) -> Result<Vec<OsString>, FilesError> {
    let failed = |error| FilesError::from_io(directory, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if is_table_name(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Err(FilesError::NoYaml {
            path: directory.to_owned(),
        });
    }
    names.sort();
    Ok(names)
}
