//! A lease, and the writes at its end.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::frontier::{Host, Lease, StoreError};
use crate::linkcheck::check::shared::{Checker, DatedAnswer, HostQueue, Links};
use crate::linkcheck::check::state::{Space, StateAccess, StateRow, StateWrite};
use crate::linkcheck::conclude::LinkRecord;

/// How long a lease lasts unless it is renewed.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// A lease, and the writes at its end.
#[derive(Clone)]
pub(crate) struct Visit<'c> {
    pub(super) checker: &'c Checker,
    pub(super) lease: &'c Lease,
    /// Until when the lease lasts.
    pub(super) until: Instant,
    pub(super) links: Arc<Links>,
    pub(super) rest: HostQueue,
    pub(super) write: StateWrite,
    /// The conclusions: URLs, with their previous and their new records.
    pub(super) concluded: Vec<(String, Option<LinkRecord>, LinkRecord)>,
    /// When this host has a request due again, in milliseconds.
    pub(super) next: Option<u64>,
    pub(super) now: u64,
    /// The pause that its robots.txt requires, if that was the answer.
    pub(super) wanted_pause: Duration,
}

impl<'c> Visit<'c> {
    pub(crate) fn new(checker: &'c Checker, lease: &'c Lease) -> Self {
        Self {
            checker,
            lease,
            until: Instant::now() + lease.time_left,
            links: checker.links(),
            rest: HostQueue::of(&lease.host),
            write: StateWrite::default(),
            concluded: Vec::new(),
            next: None,
            now: checker.now(),
            wanted_pause: Duration::ZERO,
        }
    }

    pub(super) fn access(&self) -> &'c StateAccess {
        self.checker.access()
    }

    /// Returns a row of the host.
    pub(super) async fn row<T: DeserializeOwned>(
        &self,
        space: Space,
    ) -> Result<Option<T>, StoreError> {
        let key = self.lease.host.as_str().as_bytes();
        self.access().read(space, key).await
    }

    pub(super) fn put(&mut self, row: StateRow) {
        self.write.rows.push(row);
    }

    pub(super) fn drop_row(&mut self, key: &[u8]) {
        self.rest.after(key);
        self.put(StateRow::none(Space::Queue, key));
    }

    /// Records an answer for which others wait, or that it is under way.
    pub(super) fn answer<T: Serialize>(&mut self, space: Space, key: &str, answer: Option<T>) {
        let at = self.now;
        self.put(StateRow::put(space, key, &DatedAnswer { answer, at }));
    }

    /// Wakes a host with work that waited for an answer.
    pub(super) fn wake(&mut self, host: &str) {
        if let Ok(host) = Host::parse(host) {
            self.wants(&host, 0);
        }
    }

    /// Records that a host has a request due at a time.
    pub(super) fn wants(&mut self, host: &Host, due: u64) {
        if *host == self.lease.host {
            self.wants_at(Some(due));
        } else {
            let after = Duration::from_millis(due.saturating_sub(self.now));
            self.write.hosts.push((host.clone(), after));
        }
    }

    /// Records that this host has a request due at a time.
    pub(super) fn wants_at(&mut self, due: Option<u64>) {
        self.next = [self.next, due].into_iter().flatten().min();
    }
}
