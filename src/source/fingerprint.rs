//! What a reading looked like from outside, to tell without reading whether it still holds.
//!
//! A server looks at its table every few seconds, and most of the time nothing has changed. Reading
//! and hashing a large table each time would keep a processor busy for nothing.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use git2::Oid;

use super::checkout::Surroundings;
use super::files::{self, Listing, Stamp};
use super::links::{self, Trail};

/// A file changed this recently could change again without looking different: the coarsest file
/// times in use (FAT) count in steps of two seconds.
const RACY: Duration = Duration::from_millis(2_500);

/// What a reading's files and commit looked like, from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(Look);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Look {
    Files {
        state: Box<State>,
        /// Whether a change after the reading could go unseen.
        racy: bool,
    },
    /// A commit never changes.
    Commit(Oid),
}

impl Fingerprint {
    /// Keeps what a reading that began at `now` found.
    pub(super) fn new(state: State, now: SystemTime) -> Self {
        let racy = (state.stamps.iter()).any(|stamp| stamp.is_near(now, RACY));
        let state = Box::new(state);
        Self(Look::Files { state, racy })
    }

    /// Keeps which commit a reading was of.
    pub(super) fn of_commit(commit: Oid) -> Self {
        Self(Look::Commit(commit))
    }

    /// Whether a reading was of this commit, and of nothing else.
    pub(super) fn is_commit(&self, commit: Oid) -> bool {
        self.0 == Look::Commit(commit)
    }

    /// Returns what each file looked like, and where its path led, in the order of the files.
    pub(super) fn files(&self) -> impl Iterator<Item = (&Path, &Stamp, Option<&Trail>)> {
        let state = match &self.0 {
            Look::Files { state, .. } => Some(state),
            Look::Commit(_) => None,
        };
        state.into_iter().flat_map(|state| state.files())
    }

    /// Whether reading these paths may bring something else. In doubt it may.
    pub(super) fn may_be_outdated(&self, paths: &[PathBuf], max_bytes: u64) -> bool {
        match &self.0 {
            Look::Files { state, racy } => {
                *racy || State::now(paths, max_bytes).as_ref() != Some(&**state)
            }
            Look::Commit(_) => true,
        }
    }
}

/// Everything on which a reading depends but the bytes themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub(super) listing: Listing,
    pub(super) stamps: Vec<Stamp>,
    /// The commit that is checked out.
    pub(super) head: Option<Oid>,
    trails: Vec<Option<Trail>>,
}

impl State {
    pub(super) fn new(
        paths: &[PathBuf],
        listing: Listing,
        stamps: Vec<Stamp>,
        head: Option<Oid>,
    ) -> Self {
        let trails = (paths.iter().chain(&listing.files))
            .map(|path| links::follow(path).ok())
            .collect();
        Self {
            listing,
            stamps,
            head,
            trails,
        }
    }

    fn files(&self) -> impl Iterator<Item = (&Path, &Stamp, Option<&Trail>)> {
        let files = &self.listing.files;
        // The first trails are those of the paths that were given.
        let trails = &self.trails[self.trails.len() - files.len()..];
        (files.iter().zip(&self.stamps).zip(trails))
            .map(|((path, stamp), trail)| (path.as_path(), stamp, trail.as_ref()))
    }

    fn now(paths: &[PathBuf], max_bytes: u64) -> Option<Self> {
        let listing = Listing::of(paths).ok()?;
        let stamps = files::stamps(&listing.files, max_bytes).ok()?;
        let checkout = Surroundings::of(paths, &listing.files)
            .open()
            .ok()
            .flatten();
        let head = checkout.and_then(|checkout| checkout.head().ok().flatten());
        Some(Self::new(paths, listing, stamps, head))
    }
}
