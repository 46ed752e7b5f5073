//! Changing a table's text without disturbing what is not to change.
//!
//! Text in, text out: a document is taken apart into a layout, and a changed layout is written out
//! again; or new entries are put between its lines. Invariant: nothing here does I/O, and a layout
//! that nobody changed is the text it was read from, byte for byte.

mod ambiguity;
mod format;
mod insert;
mod layout;
mod list;
mod merge;
mod new_entry;
mod refusal;
mod replace;

pub use format::format;
pub use insert::insert;
pub use layout::{Entry, Layout, Section};
pub use merge::{Conflict, MergeError, Merged, merge};
pub use new_entry::{NewEntry, OwnCode};
