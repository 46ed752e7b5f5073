//! What a table was at each commit: its published links, and which of them a newer table breaks.
//!
//! Invariant: only commits are read, never files of a work tree.

mod base;
mod ever;
mod lineage;
mod note;

pub use self::lineage::{HistoryError, Lineage};
pub use self::note::HistoryNote;
