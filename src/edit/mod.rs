//! Changing the text of a table without disturbing the rest.
//!
//! Text in, text out: a document is split into a layout, and a changed layout is written out again;
//! or new entries are inserted between its lines, or keys of an entry changed. Invariant: nothing here
//! does I/O, and an unchanged layout is written out as the text it was read from, byte for byte.

mod ambiguity;
mod entry;
mod format;
mod insert;
mod layout;
mod list;
mod merge;
mod new_entry;
mod obstacle;
mod refusal;
mod replace;
mod scalar;
mod style;

pub use entry::{EditedText, KeyEdit, NewValue};
pub use format::format;
pub use insert::insert;
pub use layout::{Layout, LayoutEntry, Section};
pub use merge::{Conflict, MergeError, Merged, NotByMeaning, merge};
pub use new_entry::{NewEntry, OwnCode};
pub use obstacle::Obstacle;
pub(crate) use scalar::scalar;
