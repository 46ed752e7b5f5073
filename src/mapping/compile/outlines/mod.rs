//! Where the entries of a document and their keys are written.

mod of_block;
mod of_events;
mod outline;
mod outlining;

pub use outline::{EntryOutline, Outline, Pair, Scalar, ScalarForm};
pub use outlining::{case_of, defaults_of, scheme_of};
