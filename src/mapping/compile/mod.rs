//! From documents to a table: the known keys, and conflicts between entries.

mod admit;
mod agreed;
mod conflicts;
mod document;
mod expectation;
mod item;
mod next;
mod outline;
mod pieces;
mod review;
mod shared;
mod sound;
pub(super) mod tables;
mod written_codes;

pub use expectation::Expectation;
pub use next::compile_after;
pub use outline::{EntryOutline, Outline, Pair, Scalar, ScalarForm, defaults_of};
pub use sound::SoundTable;
pub use tables::{Compilation, compile};
