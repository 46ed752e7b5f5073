//! The operations that every store has.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use thiserror::Error;

use super::{AliasName, Host, HostCounts, Lease, LeaseState, Reservation, Settings};

/// The future result of an operation.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Why a store could not do an operation.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The store cannot be reached. The operation was done or not, and can be repeated: a lease that
    /// was given and never received expires, and a release that was done already reports its lease
    /// as ended.
    #[error("the store cannot be reached")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    /// The store cannot do the operation, and repeating it would not help. Nothing was changed.
    #[error("the store failed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

/// A store of hosts to be requested, each by one worker at a time, and of the times when they may
/// be requested again.
///
/// Each operation is atomic, and is durable once its result is returned, if the store is durable at
/// all. Durations count on the store's own clock, in milliseconds, rounded up.
///
/// A group is a host without an alias, or all members of an alias; it has at most one lease.
pub trait Store: Send + Sync {
    /// Queues a host to be requested after `after`, unless it is already queued for an earlier
    /// time.
    ///
    /// A host that is leased is queued once the lease has ended.
    fn add_host<'a>(&'a self, host: &'a Host, after: Duration) -> Pending<'a, ()>;

    /// Removes a host from the queue, and forgets it once its lease, its pause and its block are
    /// over.
    fn remove_host<'a>(&'a self, host: &'a Host) -> Pending<'a, ()>;

    /// Makes a host a member of an alias, or of none. A member without a port covers all ports of
    /// its name that are not members themselves.
    ///
    /// A lease of the host continues, and holds its new alias too.
    fn set_alias<'a>(&'a self, member: &'a Host, alias: Option<&'a AliasName>) -> Pending<'a, ()>;

    /// Leases a host that is due to the caller for `busy_timeout`: one of the group that has been due
    /// for the longest time.
    fn reserve_next(&self, busy_timeout: Duration) -> Pending<'_, Reservation>;

    /// Ends a lease: its group rests for `pause`, and the host is queued again after `next_in`,
    /// unless it was added for an earlier time during the lease.
    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
    ) -> Pending<'a, LeaseState>;

    /// Extends a lease to at least `busy_timeout` from now.
    fn renew<'a>(&'a self, lease: &'a Lease, busy_timeout: Duration) -> Pending<'a, LeaseState>;

    /// Prevents a host from being reserved for `duration`, unless it is already blocked for longer.
    ///
    /// Neither a release nor the end of its work shortens that.
    fn block<'a>(&'a self, host: &'a Host, duration: Duration) -> Pending<'a, ()>;

    /// Stores the settings of a host.
    fn set_settings<'a>(&'a self, host: &'a Host, settings: &'a Settings) -> Pending<'a, ()>;

    /// Returns the settings of a host, if it is known.
    fn settings<'a>(&'a self, host: &'a Host) -> Pending<'a, Option<Settings>>;

    /// Ends the leases that have expired, with a full pause for their groups, queues their hosts for
    /// now, and returns how many there were.
    ///
    /// A lease lasts to the end of its last millisecond. Any worker may do this, for example every
    /// 10 seconds.
    fn reap(&self) -> Pending<'_, usize>;

    /// Counts the hosts that are leased, or queued for a time that has come. One that is blocked for
    /// longer than `block` from now is left out unless it is leased.
    ///
    /// A host that only rests is included: it still has a request that is due.
    fn due(&self, block: Duration) -> Pending<'_, usize>;

    /// Counts hosts by their state.
    fn counts(&self) -> Pending<'_, HostCounts>;
}
