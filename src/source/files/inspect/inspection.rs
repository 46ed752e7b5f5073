//! An inspection of a table's paths: its files, the links on the way to them, and the Git checkout
//! around them.
//!
//! Whether to read, what to read and what to watch are decided from the same inspection, so that
//! each file is looked up only once. No content is read here.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use super::checkout::{Checkout, CheckoutWarning, Surroundings};
use super::error::FilesError;
use super::listing::Listing;
use super::stamp::Stamp;
use super::trails::Trails;
use crate::git::{CommitId, chain};

/// The files that a table's paths name at one time.
pub struct Inspection {
    /// When this began, before anything was looked up.
    pub(in crate::source::files) began: Instant,
    /// The files that were found.
    pub(in crate::source::files) listing: Listing,
    /// The error, if not all paths were found.
    error: Option<FilesError>,
    pub(in crate::source::files) trails: Trails,
    /// The metadata of each file that can be read.
    pub(in crate::source::files) stamps: Vec<Option<Stamp>>,
    pub(in crate::source::files) surroundings: Surroundings,
    /// The checkout that all files lie in.
    pub(in crate::source::files) checkout: Option<Checkout>,
    /// Its commit.
    pub(in crate::source::files) head: Option<CommitId>,
    /// Human-readable reasons why the checkout or its commit is not known.
    pub(in crate::source::files) warnings: Vec<String>,
}

impl Inspection {
    /// Inspects some paths, each a file or a directory of files.
    pub(in crate::source::files) fn of(paths: &[PathBuf]) -> Self {
        let began = Instant::now();
        let (listing, error) = Listing::found(paths);
        let mut stamps = listing.direct_stamps();
        let trails = Trails::follow(paths, &listing, &stamps);
        listing.complete(&mut stamps);
        let surroundings = Surroundings::of(&trails.directories());
        let mut warnings = Vec::new();
        let checkout = noted(surroundings.open(), &mut warnings);
        let head = (checkout.as_ref()).and_then(|it| noted(it.head(), &mut warnings));
        Self {
            began,
            listing,
            error,
            trails,
            stamps,
            surroundings,
            checkout,
            head,
            warnings,
        }
    }

    /// Returns whether every path was found.
    pub(in crate::source::files) fn is_complete(&self) -> bool {
        self.error.is_none()
    }

    /// Returns the metadata of all files.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or they have more than `max` bytes together.
    pub(in crate::source::files) fn stamps_within(
        &self,
        max: u64,
    ) -> Result<Vec<Stamp>, FilesError> {
        self.listing.all_stamps(&self.stamps, max)
    }

    /// Returns how long it will take until no file was changed within a duration of now, if one was.
    pub(in crate::source::files) fn young_for(
        &self,
        now: SystemTime,
        window: Duration,
    ) -> Option<Duration> {
        let stamps = self.stamps.iter().flatten();
        stamps.filter_map(|stamp| stamp.near_for(now, window)).max()
    }

    /// Returns this if every path was found.
    ///
    /// # Errors
    ///
    /// The first error, if a path was not found.
    pub(in crate::source::files) fn complete(self) -> Result<Self, FilesError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }
}

/// Unwraps a result, and keeps the warning of an error.
pub(in crate::source::files) fn noted<T>(
    result: Result<Option<T>, CheckoutWarning>,
    warnings: &mut Vec<String>,
) -> Option<T> {
    result.unwrap_or_else(|error| {
        warnings.push(chain(&error));
        None
    })
}
