//! Which host may be asked by whom, and when: the host reservation service of the link checker.
//!
//! Workers reserve a host, ask it, and release it with a pause. A [`Store`] sees to it that no host
//! and no alias has two leases, that a group rests between two of them, and that a host whose worker
//! died comes back. [`Memory`] is one for a single run, [`Redb`] a file for a single process,
//! and `Valkey` a server that many workers share.
//!
//! Nothing here knows links, HTTP or Git, and no other layer is imported.
//!
//! # Invariants
//!
//! - A host has at most one lease, and an alias is never given one while another holds it.
//! - A group rests for its pause between two leases, also if the process restarts or the clock
//!   goes back.
//! - A host is queued or leased, never both; one whose lease has expired is queued by the next reaping.
//! - Time is the store's own. A lease that has ended changes nothing, by its fencing token.

mod contract;
mod memory;
mod redb;
mod schedule;
#[cfg(feature = "valkey")]
mod valkey;

pub use contract::{
    AliasError, AliasName, Clock, Host, HostCounts, HostError, Lease, LeaseState, Pending,
    Reservation, Settings, Store, StoreError, SystemClock,
};
pub use memory::Memory;
pub use redb::{Redb, RedbError, RedbTransaction};
#[cfg(feature = "valkey")]
pub use valkey::{
    Valkey, ValkeyAddress, ValkeyError, ValkeyRow, ValkeyTable, ValkeyWrite, ValkeyWritten,
};
