//! The results for the links of a table that may be replaced: read without a lock, updated as
//! answers arrive.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

use super::index::{VerdictCounts, VerdictIndex};
use super::summary::LinkSummary;
use crate::linkcheck::check::Links;
use crate::linkcheck::conclude::LinkRecord;

/// The results for the links of a table, in memory.
#[derive(Debug, Default)]
pub struct KnownLinks {
    index: ArcSwap<VerdictIndex>,
    /// Locked during each write, so that no result is written to an index that is being replaced.
    writing: Mutex<()>,
}

impl KnownLinks {
    /// Returns the summary of a target. Never waits.
    pub fn summary(&self, target: &str) -> LinkSummary {
        self.index.load().summary(target).unwrap_or_default()
    }

    /// Returns how many links have each verdict.
    pub fn counts(&self) -> VerdictCounts {
        self.index.load().counts()
    }

    /// Returns a number that grows when anything changes that is worth reporting.
    pub fn changes(&self) -> u64 {
        self.index.load().changes()
    }

    /// Replaces the links with those of another table, and keeps the results of those that stay.
    pub fn replace(&self, links: &Links) {
        let _writing = self.writing();
        let next = self.index.load().next(links);
        self.index.store(Arc::new(next));
    }

    /// Records a new result for a URL.
    pub fn observe(&self, url: &str, record: &LinkRecord) {
        let _writing = self.writing();
        self.index.load().observe(url, record);
    }

    /// Records an earlier result for a URL, unless a newer one is known.
    pub fn recall(&self, url: &str, record: &LinkRecord) {
        let _writing = self.writing();
        self.index.load().recall(url, record);
    }

    /// Records a result for a URL that another worker may have found.
    pub fn renew(&self, url: &str, record: &LinkRecord) {
        let _writing = self.writing();
        self.index.load().renew(url, record);
    }

    /// Returns whether no result is known for a URL.
    pub fn lacks(&self, url: &str) -> bool {
        self.index.load().lacks(url)
    }

    fn writing(&self) -> MutexGuard<'_, ()> {
        // An index is complete after each step, even if the next one panicked.
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
