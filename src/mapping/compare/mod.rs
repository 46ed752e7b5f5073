//! Differences between two tables, the published links that they break, and who may make them.

mod broken;
mod change;
mod diff;
mod gap;
mod near_ends;
mod neighbourhood;
mod owners;
mod permanence;
mod promises;
mod proposal;
mod shadow_breach;
mod shadowing;
mod statement;

pub use broken::{Broken, Link, Origin};
pub use change::{Change, ChangeKind};
pub use diff::compare;
pub use near_ends::near_ends;
pub use neighbourhood::Neighbourhood;
pub use owners::Owners;
pub use permanence::{Breach, breaches, report_known};
pub use promises::Promises;
pub use proposal::{Author, Proposal};
pub use shadow_breach::report_shadowing;
pub use shadowing::{NewLink, Shadowed, shadowed, shadowed_by, would_shadow};
pub use statement::{Statement, Statements, TRAILER};
