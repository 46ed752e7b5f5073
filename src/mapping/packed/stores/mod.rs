//! What a site stores, each kind in a form of its own: the bytes of texts, targets, codes, lines, notes,
//! pieces, and the index over the records of its entries. No store knows the site or its entries.

mod arena;
mod codes;
mod hosts;
mod index;
mod kept;
mod kept_numbers;
mod layer;
mod lines;
mod moves;
mod notes;
mod pieces;
mod record;
mod renumbering;
mod shapes;
mod stretches;
mod target_parts;
mod targets;

pub(crate) use arena::Shift;
pub(crate) use arena::{Arena, Text, index};
pub(crate) use codes::Codes;
pub(crate) use codes::{CodeKind, Listed};
pub(crate) use hosts::Hosts;
pub(crate) use index::{ChangedIndex, Index};
pub(crate) use kept::Kept;
pub(crate) use kept_numbers::KeptNumbers;
pub(crate) use lines::{LineBlock, Lines};
pub(crate) use moves::Moves;
pub(crate) use notes::Notes;
pub(crate) use notes::{NoteKind, Term};
pub(crate) use pieces::Pieces;
pub(crate) use pieces::{Part, PartedDocument, Piece};
pub(crate) use record::{Record, Shape, Unsaid};
pub(crate) use shapes::{DraftShapes, Shapes};
pub use target_parts::TargetParts;
pub(crate) use targets::Targets;
