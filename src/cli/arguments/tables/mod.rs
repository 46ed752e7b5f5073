//! Tables, and the memory that one may take.

mod memory_limit;
pub(in crate::cli) mod table;

pub(crate) use memory_limit::MemoryLimit;
pub(crate) use table::{MAX_BYTES, PathArgs, STDIN, STDIN_NAME, TableArgs};
