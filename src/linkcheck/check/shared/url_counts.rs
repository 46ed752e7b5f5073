//! The number of URLs of each host: most URLs share their host with others, so each name is parsed
//! once.

use std::collections::HashMap;

use super::host::{authority, host_of_target};
use crate::frontier::Host;

/// Counts of URLs by the names of their hosts.
#[derive(Default)]
pub(super) struct UrlCounts(HashMap<Box<str>, (Option<Host>, u64)>);

impl UrlCounts {
    /// Counts a URL in its canonical form, unless its name is one that no host can have; returns
    /// whether it was counted.
    pub(super) fn add(&mut self, url: &str) -> bool {
        let authority = authority(url);
        if let Some((host, count)) = self.0.get_mut(authority) {
            *count += 1;
            return host.is_some();
        }
        let host = host_of_target(url);
        let is_host = host.is_some();
        self.0.insert(authority.into(), (host, 1));
        is_host
    }

    /// Removes a URL from the count.
    pub(super) fn subtract(&mut self, url: &str) {
        if let Some((_, count)) = self.0.get_mut(authority(url)) {
            *count = count.saturating_sub(1);
        }
    }

    /// Returns the counts by hosts, of which one may have several names in URLs.
    pub(super) fn into_counts(self) -> HashMap<Host, u64> {
        let mut counts = HashMap::with_capacity(self.0.len());
        for (host, count) in self.0.into_values() {
            if let Some(host) = host {
                *counts.entry(host).or_default() += count;
            }
        }
        counts
    }
}
