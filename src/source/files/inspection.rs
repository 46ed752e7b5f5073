//! One look at what a table's paths name: its files, the links on the way to them, and the Git
//! checkout around them.
//!
//! Whether to read, what to read and what to watch are decided from the same look, so that each
//! file is looked up once for all of them. Nothing is read here.

use std::path::PathBuf;

use super::checkout::{Checkout, CheckoutWarning, Surroundings};
use super::error::FilesError;
use super::listing::Listing;
use super::trails::Trails;
use crate::git::{CommitId, chain};

/// What a table's paths name at one time.
pub struct Inspection {
    /// The files that were found.
    pub(super) listing: Listing,
    /// Why this is not all of them, if it is not.
    error: Option<FilesError>,
    pub(super) trails: Trails,
    pub(super) surroundings: Surroundings,
    /// The checkout that all files lie in.
    pub(super) checkout: Option<Checkout>,
    /// Its commit.
    pub(super) head: Option<CommitId>,
    /// Why the checkout or its commit is not known, for people.
    pub(super) warnings: Vec<String>,
}

impl Inspection {
    /// Looks at some paths, each a file or a directory of files.
    pub(super) fn of(paths: &[PathBuf]) -> Self {
        let (listing, error) = Listing::found(paths);
        let trails = Trails::follow(paths, &listing.files);
        let surroundings = Surroundings::of(&trails.directories());
        let mut warnings = Vec::new();
        let checkout = noted(surroundings.open(), &mut warnings);
        let head = (checkout.as_ref()).and_then(|it| noted(it.head(), &mut warnings));
        Self {
            listing,
            error,
            trails,
            surroundings,
            checkout,
            head,
            warnings,
        }
    }

    /// Returns whether every path was found.
    pub(super) fn is_complete(&self) -> bool {
        self.error.is_none()
    }

    /// Returns this if every path was found.
    ///
    /// # Errors
    ///
    /// The first error, if one was not.
    pub(super) fn complete(self) -> Result<Self, FilesError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }
}

/// Unwraps a result, and keeps the warning of an error.
pub(super) fn noted<T>(
    result: Result<Option<T>, CheckoutWarning>,
    warnings: &mut Vec<String>,
) -> Option<T> {
    result.unwrap_or_else(|error| {
        warnings.push(chain(&error));
        None
    })
}
