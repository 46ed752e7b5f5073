//! What a table was at each commit: its published links, and which of them a newer table breaks;
//! and whose entries a proposal may change.
//!
//! `lineage` reads a table at any commit; `base` compares with the table where a change branched
//! off, `ever` with all that was ever published; `owners` finds the owners file that decides
//! what an author may change.
//!
//! Invariant: only commits are read, never files of a work tree.

mod base;
mod ever;
mod lineage;
mod note;
mod owners;
mod past_files;

pub use self::base::SinceBase;
pub use self::lineage::{HistoryError, Lineage};
pub use self::note::HistoryNote;
pub use self::owners::OwnersFile;
