//! The contract of every store: hosts, aliases, leases, time, and the operations on them.

mod alias;
mod clock;
mod host;
mod lease;
mod store;

pub use alias::{AliasError, AliasName};
pub use clock::{Clock, SystemClock};
pub(super) use clock::{Now, SteadyClock, StoreTime, millis};
pub use host::{Host, HostError};
pub use lease::{HostCounts, Lease, LeaseState, Reservation, Settings};
pub use store::{Pending, Store, StoreError};
