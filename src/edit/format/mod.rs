//! The canonical form of a document.
//!
//! The entries of each section are sorted by code, and their values written canonically (`spellings`).
//! Everything else is kept byte for byte. A list in block form is formatted in pieces, of which only those
//! that change are formatted together (`pieces`), any other document as a whole (`document`).
//!
//! # Invariants
//!
//! - Formatting never changes the meaning of a document, and leaves a formatted one as it is.
//! - What is formatted in pieces is what is formatted as a whole.

mod document;
mod entry_lines;
mod piece_form;
mod pieces;
mod spellings;

pub use document::format;
pub use pieces::FormattedPieces;
