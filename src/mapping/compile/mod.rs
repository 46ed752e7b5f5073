//! From documents to a table: the known keys, conflicts between entries, and the tests written in a
//! table; or only the difference from an earlier version (docs/decisions/0029).

mod admit;
mod agreed;
mod below_review;
mod case_conflicts;
mod conflicts;
mod difference;
mod document;
mod expectation;
mod first;
mod input;
mod item;
mod known_files;
mod next;
mod outline;
mod outline_of_block;
mod outline_of_events;
mod outlining;
mod pieces;
#[cfg(test)]
pub(super) mod random_edits;
mod review;
#[cfg(test)]
mod same_table;
mod shared;
mod site_review;
mod site_url;
mod sound;
pub(super) mod tables;
mod url_checks;
mod variant_checks;
mod variants;
mod written_codes;
mod written_order;

pub use difference::{ChangedFile, Difference, Outset};
pub use expectation::Expectation;
pub use first::{FirstReading, Workers};
pub use input::TextNeeded;
pub use known_files::KnownFiles;
pub use next::{compile_after, compile_read};
pub use outline::{EntryOutline, Outline, Pair, Scalar, ScalarForm};
pub use outlining::{defaults_of, scheme_of};
pub use sound::SoundTable;
pub use tables::{Compilation, MAX_TABLE_TEXT, compile, compile_listing};
