//! Checking all targets of a table: which is asked when, and what is kept of the answers.
//!
//! `checker` holds what is shared, `run` reserves hosts, and `visit` is what happens while one is reserved: at most one request. All
//! that is known is in a [`CheckState`]: in memory, or in the file in which the reservations are.

mod asker;
mod checker;
mod file;
mod host;
mod links;
mod memory;
mod millis;
mod options;
mod queue;
mod run;
mod state;
mod visit;

pub use asker::{Ask, Asking};
pub use checker::{CheckProgress, Checker};
pub use file::FileState;
pub use links::{LinkUse, Links, Resolution, TableLink};
pub use memory::MemoryState;
pub use options::CheckOptions;
pub use state::{CheckState, Row, Space, StateChange};
