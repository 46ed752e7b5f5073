//! Fetching from a remote and pushing to it, in a process of its own: addresses, credentials, host keys,
//! limits, and the directory that a clone is kept in.

mod clone;
mod orders;
mod process;
mod remote;
mod transfer;
mod transfer_error;

pub use clone::StateError;
pub(crate) use clone::{CloneRecord, CloneTarget, StateDir};
pub use orders::TransferTimeout;
pub(crate) use orders::{FetchDepth, FetchOrder, PushOrder, Task, Tip};
pub use process::{Pushed, run_transfer};
pub use remote::{Credentials, RemoteUrl, RemoteUrlError};
pub(crate) use remote::{Transport, Wanted};
pub use transfer::Transfer;
pub(crate) use transfer::{SECRET_VARIABLES, SERVICE_VARIABLES};
pub use transfer_error::TransferError;
