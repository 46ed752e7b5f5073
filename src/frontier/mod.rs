//! The host reservation service of the link checker: which host may be requested by which worker,
//! and when.
//!
//! Workers reserve a host, send it a request, and release it with a pause. A [`Store`] ensures that
//! no host and no alias has two leases, that a group rests between two of them, and that the host
//! of a dead worker is queued again. `contract` has the interface and rules of every store,
//! `schedule` the state machine of hosts, aliases and leases, without a clock or I/O. [`Memory`] is
//! a store for a single run, [`Redb`] a file for a single process, and `Valkey` a server that many
//! workers share: there the scripts of `valkey/lua/` are the state machine, one for each operation,
//! with the rows and orders of `schedule`.
//!
//! `tests/frontier/` runs one conformance suite over every store, and compares it with a simple
//! model on random operations; `tests/e2e/frontier` starts the server for it.
//!
//! # Invariants
//!
//! - Nothing here knows about links, HTTP or Git.
//! - A host has at most one lease, and an alias is never given one while another holds it.
//! - A group, which is a host without an alias or the members of one, rests between two leases,
//!   even if the process restarts or the clock goes back.
//! - A host is queued or leased, never both; one whose lease has expired is queued by the next
//!   reaping.
//! - Durations count on the store's own clock, never a worker's. A lease that has ended changes
//!   nothing: each has a unique token.
//! - Reserving does not depend on how many members of a busy group are due.
//! - An operation is durable once it is answered; with `valkey`, as far as the server is configured
//!   to be. A crash can repeat the requests of the leases at that time, after a full pause, and
//!   nothing else.

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
pub use valkey::{Valkey, ValkeyError, ValkeyRow, ValkeyTable, ValkeyWrite, ValkeyWritten};
