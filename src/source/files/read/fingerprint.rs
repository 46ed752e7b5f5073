//! The metadata of a reading, to decide without reading whether it is still current.
//!
//! A server checks its table every few seconds, and most of the time nothing has changed. Reading
//! and hashing a large table each time would waste a processor.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use git2::Oid;

use super::file_record::FileRecord;
use crate::git::{CommitId, Trail};
use crate::mapping::Cut;
use crate::source::files::inspect::{Inspection, Listing, Stamp, Trails};

/// The files' metadata and the commit of a reading, with where its files were cut.
#[derive(Debug, Clone)]
pub struct Fingerprint(FingerprintKind);

#[derive(Debug, Clone)]
enum FingerprintKind {
    Files {
        state: Arc<ReadingState>,
        read_at: SystemTime,
        /// Whether a change after the reading could go unnoticed.
        racy: bool,
    },
    /// A commit never changes. Its files are known by their content in Git.
    Commit(CommitId, Arc<HashMap<Oid, Arc<Cut>>>),
}

impl Fingerprint {
    /// Creates the fingerprint of a reading that began at `now`.
    pub(crate) fn new(state: ReadingState, now: SystemTime) -> Self {
        let racy = (state.files.iter()).any(|file| file.stamp.is_racy(now));
        Self(FingerprintKind::Files {
            state: Arc::new(state),
            read_at: now,
            racy,
        })
    }

    /// Creates the fingerprint of a reading of a commit, with the places where its files were cut.
    pub(crate) fn of_commit(commit: CommitId, cuts: HashMap<Oid, Arc<Cut>>) -> Self {
        Self(FingerprintKind::Commit(commit, Arc::new(cuts)))
    }

    /// Returns the fingerprint with more files of commits, by their content in Git, and where they were
    /// cut.
    pub(crate) fn with_cuts(&self, cuts: &[(Oid, Arc<Cut>)]) -> Self {
        match &self.0 {
            FingerprintKind::Commit(commit, known) if !cuts.is_empty() => {
                let mut all = HashMap::clone(known);
                all.extend(cuts.iter().cloned());
                Self::of_commit(*commit, all)
            }
            _ => self.clone(),
        }
    }

    /// Returns whether a reading was of this commit, and of nothing else.
    pub(crate) fn is_commit(&self, commit: CommitId) -> bool {
        matches!(&self.0, FingerprintKind::Commit(known, _) if *known == commit)
    }

    /// Returns where a file with this content in Git was cut, if it was read from a commit.
    pub(crate) fn cut(&self, blob: Oid) -> Option<&Arc<Cut>> {
        match &self.0 {
            FingerprintKind::Commit(_, cuts) => cuts.get(&blob),
            FingerprintKind::Files { .. } => None,
        }
    }

    /// Returns each file on the disk that was read.
    pub(super) fn states(&self) -> impl Iterator<Item = &FileRecord> {
        let state = match &self.0 {
            FingerprintKind::Files { state, .. } => Some(state),
            FingerprintKind::Commit(..) => None,
        };
        state.into_iter().flat_map(|state| &state.files)
    }

    /// Returns when the reading began.
    pub(super) fn read_at(&self) -> SystemTime {
        match &self.0 {
            FingerprintKind::Files { read_at, .. } => *read_at,
            FingerprintKind::Commit(..) => SystemTime::UNIX_EPOCH,
        }
    }

    /// Returns the metadata of each file, and where its path led, in the order of the files.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Path, &Stamp, Option<Cow<'_, Trail>>)> {
        let state = match &self.0 {
            FingerprintKind::Files { state, .. } => Some(state),
            FingerprintKind::Commit(..) => None,
        };
        state.into_iter().flat_map(|state| state.files())
    }

    /// Returns whether a new reading may give a different result. If in doubt, it may.
    pub(crate) fn may_be_outdated(&self, seen: &Inspection) -> bool {
        match &self.0 {
            FingerprintKind::Files { state, racy, .. } => *racy || !state.is_what(seen),
            FingerprintKind::Commit(..) => true,
        }
    }
}

/// Everything on which a reading depends except the bytes themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadingState {
    pub(crate) listing: Listing,
    /// The files, in the order of the listing.
    pub(crate) files: Vec<FileRecord>,
    /// The current commit of the checkout.
    pub(crate) head: Option<CommitId>,
    pub(super) trails: Trails,
}

impl ReadingState {
    fn files(&self) -> impl Iterator<Item = (&Path, &Stamp, Option<Cow<'_, Trail>>)> {
        let trails = self.trails.of_files(&self.listing);
        (self.files.iter().zip(trails)).map(|(file, trail)| (&*file.path, &file.stamp, trail))
    }

    /// Returns whether an inspection saw the same state.
    fn is_what(&self, seen: &Inspection) -> bool {
        seen.is_complete()
            && self.head == seen.head
            && self.listing == seen.listing
            && self.trails == seen.trails
            && (seen.stamps.iter().map(Option::as_ref))
                .eq(self.files.iter().map(|file| Some(&file.stamp)))
    }
}
