//! Checking all targets of a table: which is asked when, and what is kept of the answers.
//!
//! `shared` is what all parts of a check use, `enqueue` queues the links, `queue_review` goes through
//! those that are queued, `run` reserves hosts, and `visit` is what happens while one is reserved: at
//! most one request. All that is known is in a [`CheckState`]: in memory, or in the file or on the
//! server in which the reservations are.
//!
//! No process has a part of the state to itself: what one writes from what it has read is written
//! only if that is still there, and whether a check is at its end is for the state to say.

mod aliases;
mod archive;
mod enqueue;
mod queue_review;
mod run;
mod shared;
mod state;
mod visit;

pub use shared::{
    Ask, Asking, CheckOptions, CheckProgress, Checker, LinkUse, Links, RequestResult, Resolution,
    TableLink,
};
#[cfg(feature = "valkey")]
pub use state::ValkeyState;
pub use state::{CheckState, FileState, MemoryState, Row, Space, StateRow, StateWrite, WriteState};
