//! Archives of the Web: how one is asked for a copy of a page that is dead, which answers are taken,
//! and which pages it is not asked for.

mod answer;
mod look_up;
mod privacy;

pub use answer::{ArchiveAnswer, ArchiveProblem};
pub use look_up::{Archive, WAYBACK_MACHINE};
pub use privacy::may_be_named;
