//! The outside appearance of a reading, to decide without reading whether it is still current.
//!
//! A server checks its table every few seconds, and most of the time nothing has changed. Reading
//! and hashing a large table each time would keep a processor busy for nothing.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::inspection::Inspection;
use super::listing::{self, Listing, Stamp};
use super::trails::Trails;
use crate::git::{CommitId, Trail};

/// The age below which a file could change again without looking different: the coarsest file times
/// in use (FAT) count in steps of two seconds.
const RACY: Duration = Duration::from_millis(2_500);

/// The files' metadata and the commit of a reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(FingerprintKind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum FingerprintKind {
    Files {
        state: Box<ReadingState>,
        /// Whether a change after the reading could go unnoticed.
        racy: bool,
    },
    /// A commit never changes.
    Commit(CommitId),
}

impl Fingerprint {
    /// Makes the fingerprint of a reading that began at `now`.
    pub(crate) fn new(state: ReadingState, now: SystemTime) -> Self {
        let racy = (state.stamps.iter()).any(|stamp| stamp.is_near(now, RACY));
        let state = Box::new(state);
        Self(FingerprintKind::Files { state, racy })
    }

    /// Makes the fingerprint of a reading of a commit.
    pub(crate) fn of_commit(commit: CommitId) -> Self {
        Self(FingerprintKind::Commit(commit))
    }

    /// Returns whether a reading was of this commit, and of nothing else.
    pub(crate) fn is_commit(&self, commit: CommitId) -> bool {
        self.0 == FingerprintKind::Commit(commit)
    }

    /// Returns the metadata of each file, and where its path led, in the order of the files.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Path, &Stamp, Option<&Trail>)> {
        let state = match &self.0 {
            FingerprintKind::Files { state, .. } => Some(state),
            FingerprintKind::Commit(_) => None,
        };
        state.into_iter().flat_map(|state| state.files())
    }

    /// Returns whether reading what was seen may give a different result. In doubt it may.
    pub(crate) fn may_be_outdated(&self, seen: &Inspection, max_bytes: u64) -> bool {
        match &self.0 {
            FingerprintKind::Files { state, racy } => *racy || !state.is_what(seen, max_bytes),
            FingerprintKind::Commit(_) => true,
        }
    }
}

/// Everything on which a reading depends except the bytes themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadingState {
    pub(crate) listing: Listing,
    pub(crate) stamps: Vec<Stamp>,
    /// The current commit of the checkout.
    pub(crate) head: Option<CommitId>,
    pub(super) trails: Trails,
}

impl ReadingState {
    fn files(&self) -> impl Iterator<Item = (&Path, &Stamp, Option<&Trail>)> {
        let files = &self.listing.files;
        (files.iter().zip(&self.stamps).zip(&self.trails.files))
            .map(|((path, stamp), trail)| (path.as_path(), stamp, trail.as_ref()))
    }

    /// Returns whether the same was seen now.
    fn is_what(&self, seen: &Inspection, max_bytes: u64) -> bool {
        seen.is_complete()
            && self.head == seen.head
            && self.listing == seen.listing
            && self.trails == seen.trails
            && listing::stamps(&seen.listing.files, max_bytes).is_ok_and(|it| it == self.stamps)
    }
}
