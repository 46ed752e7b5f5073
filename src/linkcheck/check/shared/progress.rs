//! The progress of a check.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::checker::Checker;
use super::counts::RequestResult;
use super::host::host_of;
use crate::frontier::Host;
use crate::linkcheck::request::{RoundTrip, WebUrl};

/// The progress of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckProgress {
    /// How many requests have been sent.
    pub requests: usize,
    /// How many links have been checked.
    pub checked: usize,
    /// How many links were due at the start, once they have been counted.
    pub due: usize,
    /// How many hosts have links that are due.
    pub hosts: usize,
    /// The minimum time for the slowest host, at its latest pace.
    pub left: Duration,
}

impl Checker {
    /// Returns how many requests had a result.
    pub fn requests(&self, result: RequestResult) -> u64 {
        self.counts.results[result as usize].load(Ordering::Relaxed)
    }

    /// Returns the progress of the check.
    pub fn progress(&self) -> CheckProgress {
        let left = self.counts.left();
        let delay = self.options().delay;
        let longest = left.values().map(|host| {
            let links = u32::try_from(host.links).unwrap_or(u32::MAX);
            host.pace.max(delay).saturating_mul(links)
        });
        let requests: u64 = RequestResult::ALL.map(|it| self.requests(it)).iter().sum();
        CheckProgress {
            requests: usize::try_from(requests).unwrap_or(usize::MAX),
            checked: self.counts.checked.load(Ordering::Relaxed),
            due: self.counts.due.load(Ordering::Relaxed),
            hosts: left.values().filter(|host| host.links > 0).count(),
            left: longest.max().unwrap_or_default(),
        }
    }

    /// Sets how many links of each host are due.
    pub(crate) fn set_due(&self, left: HashMap<Host, usize>) {
        self.counts
            .due
            .store(left.values().sum(), Ordering::Relaxed);
        let mut all = self.counts.left();
        all.values_mut().for_each(|host| host.links = 0);
        for (host, links) in left {
            all.entry(host).or_default().links = links;
        }
    }

    /// Notes how long a request to a host and the pause after it take.
    pub(crate) fn note_pace(&self, host: &Host, pace: Duration) {
        self.counts.left().entry(host.clone()).or_default().pace = pace;
    }

    pub(crate) fn count_answer(&self, round_trip: &RoundTrip) {
        let result = RequestResult::of(round_trip);
        self.counts.results[result as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a link as checked.
    pub(crate) fn count_link(&self, url: &str) {
        let host = WebUrl::parse(url).ok().and_then(|url| host_of(&url));
        self.counts.checked.fetch_add(1, Ordering::Relaxed);
        let mut all = self.counts.left();
        if let Some(left) = host.and_then(|host| all.get_mut(&host)) {
            left.links = left.links.saturating_sub(1);
        }
    }
}
