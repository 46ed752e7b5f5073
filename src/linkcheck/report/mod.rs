//! What is known of the links of a table, for those who read it.

mod day;
mod index;
mod known;
mod summary;

pub use self::day::Day;
pub use self::index::VerdictCounts;
pub use self::known::KnownLinks;
pub use self::summary::LinkSummary;
