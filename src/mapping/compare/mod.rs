//! Differences between two tables, and the published links that they break.

mod broken;
mod change;
mod diff;
mod gap;
mod neighbourhood;
mod permanence;
mod promises;
mod shadow_breach;
mod shadowing;
mod statement;

pub use broken::{Broken, Link, Origin};
pub use change::{Change, ChangeKind};
pub use diff::compare;
pub use neighbourhood::Neighbourhood;
pub use permanence::{Breach, breaches, report_known};
pub use promises::Promises;
pub use shadow_breach::report_shadowing;
pub use shadowing::{Shadowed, shadowed, shadowed_by};
pub use statement::{Statement, Statements, TRAILER};
