//! Versions of a table: the first one, compiled while it is read, and later ones, of which only new pieces are.

mod difference;
mod first;
mod input;
mod known_files;
mod next;
mod pieces;
mod written_codes;

pub use difference::{ChangedFile, Difference, Outset};
pub use first::{FirstReading, Workers};
pub use input::TextNeeded;
pub use known_files::KnownFiles;
pub use next::{compile_after, compile_read};
