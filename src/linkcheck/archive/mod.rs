//! Web archives: how a copy of a dead page is looked up, which answers are accepted, and which
//! pages are not looked up.

mod answer;
mod look_up;
mod privacy;

pub use answer::{ArchiveAnswer, ArchiveProblem};
pub use look_up::{Archive, WAYBACK_MACHINE};
pub use privacy::may_be_named;
