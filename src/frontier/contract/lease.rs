//! The result of a reservation, and the stored data of a host.

use std::sync::Arc;
use std::time::Duration;

use super::{AliasName, Host};

/// The right to send requests to a host, one at a time, for a while.
///
/// While it lasts, there is no other lease for the host or for another host of its alias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The host.
    pub host: Host,
    /// The alias that the host shares its allowance with, when it was reserved.
    pub alias: Option<AliasName>,
    /// The fencing token: greater than that of any earlier lease, and unique.
    pub token: u64,
    /// How long the lease lasts, unless it is renewed, from when the store answered.
    pub time_left: Duration,
    /// The stored settings of the host.
    pub settings: Settings,
}

/// The settings that are stored for a host as long as it is known, across leases and restarts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How long the host's group rests after a lease that ends without a release, unless the store's
    /// default is longer.
    ///
    /// Each release with a pause sets it to its own; it is zero until the first one.
    pub pause: Duration,
    /// Data of the layer above about the host, which a store does not read.
    pub note: Arc<[u8]>,
}

/// The answer to an attempt to reserve a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reservation {
    /// A host is due, and now leased to the caller.
    Leased(Lease),
    /// Nothing is due for this duration; a release or a new host may shorten it.
    Wait(Duration),
    /// No host is queued or leased.
    Empty,
}

/// Whether a lease was still current when it was released or renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    /// It was, and the operation was done.
    Current,
    /// It had ended: nothing was changed.
    Ended,
}

/// The number of hosts in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCounts {
    /// Hosts that are known.
    pub hosts: usize,
    /// Hosts that wait for their next lease.
    pub queued: usize,
    /// Hosts that are leased.
    pub busy: usize,
    /// Hosts that are blocked now, whether they are queued or not.
    pub blocked: usize,
    /// Aliases that a lease holds.
    pub busy_aliases: usize,
}
