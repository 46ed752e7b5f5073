//! From documents to a table: the known keys, and conflicts between entries.

mod admit;
mod conflicts;
mod document;
mod expectation;
mod outline;
mod review;
mod sound;
pub(super) mod tables;

pub use expectation::Expectation;
pub use outline::{EntryOutline, Form, Outline, Pair, Scalar, defaults_of};
pub use sound::SoundTable;
pub use tables::{Compilation, compile};
