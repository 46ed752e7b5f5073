//! Changing the text of a table without disturbing the rest: text in, text out.
//!
//! A document is split into parts (`layout`) and brought into its canonical form (`format`); new
//! entries are inserted between its lines (`insert`), keys of entries set or removed (`entry`), and
//! three versions merged into one (`merge`). Where the list of entries is in pieces, only those around a
//! new or changed entry are read (`window`).
//!
//! # Invariants
//!
//! - Nothing here does I/O.
//! - An unchanged layout is written out as the text it was read from, byte for byte.
//! - Formatting never changes what a table means, and formatting again changes nothing.
//! - Inserting keeps every existing byte, except for the brackets of an empty list.
//! - Changing a key keeps every byte outside its value, and refuses to lose a comment; one on the
//!   line of a removed key stays on a line of its own, except in a takedown.
//! - A new line ends like the one above it.
//! - What is changed in pieces is what would be changed in the whole document, or nothing.
//! - Merging loses and invents nothing: what it cannot prove is a conflict, or left to a merge by
//!   lines.

mod ambiguity;
mod entry;
mod format;
mod insert;
mod insert_in_pieces;
mod layout;
mod list;
mod merge;
mod new_entry;
mod obstacle;
mod refusal;
mod replace;
mod scalar;
mod style;
mod variant_lines;
mod window;

pub use entry::{EditedText, KeyEdit, NewValue, edit_in_pieces};
pub use format::{FormattedPieces, format};
pub use insert::insert;
pub use insert_in_pieces::insert_in_pieces;
pub use layout::{Layout, LayoutEntry, Section};
pub use merge::{Conflict, MergeError, Merged, NotByMeaning, merge};
pub use new_entry::{NewEntry, OwnCode};
pub use obstacle::Obstacle;
pub(crate) use scalar::scalar;
pub use window::ListPieces;
