//! The stored rows of hosts and aliases.

use std::sync::Arc;
use std::time::Duration;

use crate::frontier::contract::{AliasName, StoreTime};

/// The row of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostRow {
    /// The alias that it is a member of; derived from the members.
    pub(crate) alias: Option<AliasName>,
    /// When it is due next; during a lease, only if it was added since.
    pub(crate) next: Option<StoreTime>,
    /// When it has rested from its last lease.
    pub(crate) rested: StoreTime,
    /// When its block ends.
    pub(crate) blocked: StoreTime,
    /// How long it rests after a lease that ends without a release.
    pub(crate) pause: Duration,
    /// Data of the layer above about it.
    pub(crate) note: Arc<[u8]>,
    /// Whether it is to be forgotten once its lease has ended and its times have passed.
    pub(crate) removed: bool,
    /// Its lease, if it has one; boxed, because few of the hosts have one at a time.
    pub(crate) lease: Option<Box<LeaseRow>>,
}

/// The row of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeaseRow {
    /// The fencing token.
    pub(crate) token: u64,
    /// The last millisecond of the lease.
    pub(crate) until: StoreTime,
    /// The aliases that are busy as long as it lasts: the host's alias at the start, and any that
    /// it was assigned since.
    pub(crate) holds: Vec<AliasName>,
}

/// The row of an alias.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AliasRow {
    /// When it has rested from the last lease of any member.
    pub(crate) rested: StoreTime,
    /// How many leases hold it; derived from the hosts.
    pub(super) held: usize,
    /// Its time in the index of ready groups, if it is there.
    pub(super) ready: Option<StoreTime>,
}

impl HostRow {
    /// Returns when the host itself is due, regardless of its group, if it is queued.
    pub(super) fn due(&self) -> Option<StoreTime> {
        let next = self.next.filter(|_| self.lease.is_none())?;
        Some(next.max(self.not_before()))
    }

    /// Returns when the host has rested and its block has ended.
    pub(super) fn not_before(&self) -> StoreTime {
        self.rested.max(self.blocked)
    }

    /// Queues the host for a time, unless it is queued for an earlier one.
    pub(super) fn queue(&mut self, at: StoreTime) {
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }
}

impl AliasRow {
    /// Returns a row that is not derived from anything yet.
    pub(crate) fn rested_at(rested: StoreTime) -> Self {
        Self {
            rested,
            ..Self::default()
        }
    }
}
