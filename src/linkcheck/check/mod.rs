//! Checking all targets of a table: when each is requested, and which results are kept.
//!
//! `shared` is used by all parts of a check, `enqueue` queues the links, `queue_review` checks the
//! queued ones, `run` reserves hosts, and `visit` does the work while one is reserved: at most one
//! request. All results are in a [`CheckState`]: in memory, or in the file or on the server with
//! the reservations.
//!
//! No process owns a part of the state: a write that depends on earlier reads is done only if these
//! are unchanged, and the state decides whether a check has ended (docs/decisions/0022).

mod aliases;
mod archive;
mod enqueue;
mod queue_review;
mod run;
mod shared;
mod state;
mod visit;

pub use shared::{
    CheckOptions, CheckProgress, Checker, LinkRole, LinkUse, Links, PendingReply, RequestResult,
    Requester, Resolution, TableLink,
};
#[cfg(feature = "valkey")]
pub use state::ValkeyState;
pub use state::{
    CheckState, FileState, MemoryState, QueueRow, Space, StateRow, StateWrite, WriteState,
};
