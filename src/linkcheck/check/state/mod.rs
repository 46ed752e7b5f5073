//! The state kept between requests and between runs, next to the reservations: `rows` defines it,
//! and `memory`, `file` and `valkey` store it. `access` waits while it cannot be reached.

mod access;
mod file;
mod memory;
mod rows;
#[cfg(feature = "valkey")]
mod valkey;

pub(super) use access::StateAccess;
pub use file::FileState;
pub use memory::MemoryState;
pub(super) use rows::decoded;
pub use rows::{CheckState, QueueRow, Space, StateRow, StateWrite, WriteState};
#[cfg(feature = "valkey")]
pub use valkey::ValkeyState;
