//! What is kept between questions and between runs, beside the reservations: `rows` says what that is,
//! and `memory`, `file` and `valkey` are where. `access` waits while it cannot be reached.

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
pub use rows::{CheckState, Row, Space, StateRow, StateWrite, WriteState};
#[cfg(feature = "valkey")]
pub use valkey::ValkeyState;
