//! Listing the files of a table.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::FilesError;
use crate::mapping::is_table_name;

/// The files that some paths name, in the order in which they are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listing {
    /// Every file, as reached through the path that was given.
    pub(crate) files: Vec<PathBuf>,
    /// The directories among the given paths.
    pub(crate) directories: Vec<Directory>,
}

/// A directory that was named as a table, or as a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directory {
    /// Which of the given paths it is, from 0.
    pub(crate) number: usize,
    /// The names of its table files, sorted.
    pub(crate) names: Vec<OsString>,
}

impl Listing {
    /// Lists the files that paths name: a file itself, or each table file directly in a directory.
    /// A path that is repeated counts once.
    pub(crate) fn of(paths: &[PathBuf]) -> Result<Self, FilesError> {
        match Self::found(paths) {
            (listing, None) => Ok(listing),
            (_, Some(error)) => Err(error),
        }
    }

    /// Lists the files that are found, with the first error if some are not.
    pub(crate) fn found(paths: &[PathBuf]) -> (Self, Option<FilesError>) {
        let mut listing = Self {
            files: Vec::new(),
            directories: Vec::new(),
        };
        let mut error = None;
        let mut seen = HashSet::with_capacity(paths.len());
        for (number, path) in paths.iter().enumerate() {
            // A file that is named twice still counts once.
            if seen.insert(path)
                && let Err(failed) = listing.add(path, number)
            {
                error.get_or_insert(failed);
            }
        }
        (listing, error)
    }

    fn add(&mut self, path: &Path, number: usize) -> Result<(), FilesError> {
        let metadata = fs::metadata(path).map_err(|e| FilesError::from_io(path, e))?;
        if !metadata.is_dir() {
            self.files.push(path.to_owned());
            return Ok(());
        }
        let names = table_names(path)?;
        (self.files).extend(names.iter().map(|name| path.join(name)));
        self.directories.push(Directory { number, names });
        Ok(())
    }
}

/// Returns the names of the table files directly in a directory, sorted.
pub(crate) fn table_names(directory: &Path) -> Result<Vec<OsString>, FilesError> {
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
