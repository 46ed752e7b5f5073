//! From documents to a table: the known keys, conflicts between entries, and the tests written in a
//! table; or only the difference from an earlier version (docs/decisions/0029).

mod agreed;
mod case_conflicts;
mod conflicts;
mod entries;
mod expectation;
mod outlines;
#[cfg(test)]
pub(super) mod random_edits;
mod reviews;
#[cfg(test)]
mod same_table;
mod shared;
mod sound;
pub(super) mod tables;
mod versions;
mod written_order;

pub use expectation::Expectation;
pub use outlines::{
    EntryOutline, Outline, Pair, Scalar, ScalarForm, case_of, defaults_of, scheme_of,
};
pub use sound::SoundTable;
pub use tables::{Compilation, MAX_TABLE_TEXT, compile, compile_listing};
pub use versions::{
    ChangedFile, Difference, FirstReading, KnownFiles, Outset, TextNeeded, Workers, compile_after,
    compile_read,
};
