//! From documents to a table: the known keys, and conflicts between entries.

mod admit;
mod agreed;
mod conflicts;
mod document;
mod expectation;
mod item;
mod outline;
mod review;
mod shared;
mod sound;
pub(super) mod tables;

pub use expectation::Expectation;
pub use outline::{EntryOutline, Outline, Pair, Scalar, ScalarForm, defaults_of};
pub use sound::SoundTable;
pub use tables::{Compilation, compile};
