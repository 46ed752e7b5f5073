//! Where clones are kept, and what an interrupted fetch leaves in one.

mod leftovers;
mod state_dir;
mod target;

pub(crate) use leftovers::{Before, LOCK, PARTIAL_PACK, remove_all};
pub use state_dir::StateError;
pub(crate) use state_dir::{CloneRecord, StateDir};
pub(crate) use target::CloneTarget;
