//! What the visits of one check share: the state, the asker, and how far the check has come.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use tokio::time::Instant;

use super::millis::{millis, seconds};
use super::queue::HostQueue;
use super::state::{CheckState, Space, read};
use super::{Ask, CheckOptions, Links};
use crate::frontier::{Clock, Host, StoreError};
use crate::linkcheck::conclude::{Endings, LinkRecord};
use crate::mapping::Timestamp;

/// The longest block that a check waits for, in milliseconds.
const MAX_BLOCK: u64 = 60_000;

/// Checks the links of a table.
pub struct Checker {
    pub(super) state: Arc<dyn CheckState>,
    pub(super) asker: Arc<dyn Ask>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) links: Links,
    pub(super) options: CheckOptions,
    pub(super) deadline: OnceLock<Instant>,
    pub(super) hosts: Mutex<Hosts>,
    pub(super) endings: Mutex<HashMap<Host, Endings>>,
    pub(super) answers: AtomicUsize,
    pub(super) checked: AtomicUsize,
    pub(super) due: AtomicUsize,
}

/// Hosts that matter for the end of a check.
#[derive(Default)]
pub(super) struct Hosts {
    /// Hosts with something to be asked now, and when that was found.
    pub(super) open: HashMap<Host, u64>,
    pub(super) finds: u64,
    /// Until when hosts are blocked, in milliseconds.
    pub(super) blocked: HashMap<Host, u64>,
    /// How many links each host has left, as far as that is counted.
    pub(super) left: HashMap<Host, usize>,
}

/// How far a check has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckProgress {
    /// How many requests have been sent.
    pub requests: usize,
    /// How many links have been checked.
    pub checked: usize,
    /// How many links were due at the start.
    pub due: usize,
    /// How many hosts have links that are due.
    pub hosts: usize,
    /// How long the host with the most links takes at least.
    pub left: Duration,
}

impl Checker {
    /// Returns a checker of links; `clock` is that of the state.
    pub fn new(
        state: Arc<dyn CheckState>,
        asker: Arc<dyn Ask>,
        clock: Arc<dyn Clock>,
        links: Links,
        options: CheckOptions,
    ) -> Self {
        Self {
            state,
            asker,
            clock,
            links,
            options,
            deadline: OnceLock::new(),
            hosts: Mutex::default(),
            endings: Mutex::default(),
            answers: AtomicUsize::default(),
            checked: AtomicUsize::default(),
            due: AtomicUsize::default(),
        }
    }

    /// Returns whether no host has anything due, but those that want to be left alone for long.
    pub(super) fn is_done(&self) -> bool {
        let limit = self.now() + MAX_BLOCK;
        let hosts = self.hosts();
        let mut open = hosts.open.keys();
        open.all(|host| hosts.blocked.get(host).is_some_and(|until| *until > limit))
    }

    /// Returns what is known of a URL that is asked.
    ///
    /// # Errors
    ///
    /// If the state cannot be read.
    pub fn record(&self, url: &str) -> Result<Option<LinkRecord>, StoreError> {
        let row: Option<Option<LinkRecord>> = read(&*self.state, Space::Links, url.as_bytes())?;
        Ok(row.flatten())
    }

    /// Returns the links that are checked.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// Returns how far the check has come.
    pub fn progress(&self) -> CheckProgress {
        let hosts = self.hosts();
        let most = (hosts.open.keys())
            .filter_map(|host| hosts.left.get(host))
            .max();
        let most = u32::try_from(most.copied().unwrap_or_default()).unwrap_or(u32::MAX);
        CheckProgress {
            requests: self.answers.load(Ordering::Relaxed),
            checked: self.checked.load(Ordering::Relaxed),
            due: self.due.load(Ordering::Relaxed),
            hosts: hosts.open.len(),
            left: self.options.delay.saturating_mul(most),
        }
    }

    pub(super) fn options(&self) -> &CheckOptions {
        &self.options
    }

    pub(super) fn state(&self) -> &dyn CheckState {
        &*self.state
    }

    pub(super) fn asker(&self) -> &dyn Ask {
        &*self.asker
    }

    /// Returns when the check must end.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline.get().copied()
    }

    /// Returns the milliseconds since 1970.
    pub(super) fn now(&self) -> u64 {
        millis(self.clock.now())
    }

    /// Returns the time.
    pub fn time(&self) -> Timestamp {
        Timestamp::from_unix(seconds(self.now()))
    }

    /// Looks whether a host has something to be asked now.
    pub(super) fn look_at(&self, host: &Host) -> Result<(), StoreError> {
        let now = self.now();
        let mut hosts = self.hosts();
        // No lookup is lost meanwhile: anything that queues work looks afterwards.
        let due = HostQueue::of(host).due(&*self.state)?;
        if due.is_some_and(|due| due <= now) {
            hosts.finds += 1;
            let found = hosts.finds;
            hosts.open.insert(host.clone(), found);
        } else {
            hosts.open.remove(host);
        }
        Ok(())
    }

    /// Returns when a host was last found to have something to be asked.
    pub(super) fn opened(&self, host: &Host) -> Option<u64> {
        self.hosts().open.get(host).copied()
    }

    /// Notes that a host has nothing to be asked now, unless something was found since.
    pub(super) fn close(&self, host: &Host, opened: Option<u64>) {
        let mut hosts = self.hosts();
        if hosts.open.get(host).copied() == opened {
            hosts.open.remove(host);
        }
    }

    pub(super) fn note_block(&self, host: &Host, until: u64) {
        self.hosts().blocked.insert(host.clone(), until);
    }

    pub(super) fn endings(&self) -> MutexGuard<'_, HashMap<Host, Endings>> {
        self.endings
            .lock()
            .expect("nothing that is done here panics")
    }

    pub(super) fn hosts(&self) -> MutexGuard<'_, Hosts> {
        self.hosts.lock().expect("nothing that is done here panics")
    }

    pub(super) fn count_answer(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a link of a host as checked.
    pub(super) fn count_link(&self, host: Option<&Host>) {
        self.checked.fetch_add(1, Ordering::Relaxed);
        let mut hosts = self.hosts();
        if let Some(left) = host.and_then(|host| hosts.left.get_mut(host)) {
            *left = left.saturating_sub(1);
        }
    }
}
