//! Changing a table's text without disturbing what is not to change.
//!
//! Text in, text out: a document is taken apart into a layout, and a changed layout is written out
//! again. Invariant: nothing here does I/O, and a layout that nobody changed is the text it was
//! read from, byte for byte.

mod ambiguity;
mod format;
mod layout;
mod merge;
mod refusal;

pub use format::format;
pub use layout::{Entry, Layout, Section};
pub use merge::{Conflict, MergeError, Merged, merge};
