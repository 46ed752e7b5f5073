//! Fetching from a remote and pushing to it, in a process of its own: addresses, credentials, host keys,
//! limits, and the directory that a clone is kept in.

mod address;
mod advertised;
mod bounds;
mod credentials;
mod failure;
mod fetch;
mod fetch_source;
mod job;
mod known_hosts;
mod leftovers;
mod packing;
mod progress;
mod push;
mod session;
mod speed;
mod state_dir;
mod target;
mod transfer;
mod transfer_error;
mod unwinding;
mod wanted;
mod wire_source;
mod worker;

pub(crate) use address::Transport;
pub use address::{RemoteUrl, RemoteUrlError};
pub use credentials::Credentials;
pub(crate) use job::{FetchDepth, FetchOrder, PushOrder, Task, Tip};
pub use push::Pushed;
pub use speed::TransferTimeout;
pub use state_dir::StateError;
pub(crate) use state_dir::{CloneRecord, StateDir};
pub(crate) use target::CloneTarget;
pub use transfer::Transfer;
pub(crate) use transfer::{SECRET_VARIABLES, SERVICE_VARIABLES};
pub use transfer_error::TransferError;
pub(crate) use wanted::Wanted;
pub use worker::run_transfer;
