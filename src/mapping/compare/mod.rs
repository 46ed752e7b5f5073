//! Differences between two tables, and the published links that they break: changes, permanence,
//! shadowing.

mod broken;
mod case_breach;
mod change;
mod destination;
mod diff;
mod gap;
mod goal;
mod near_ends;
mod neighbourhood;
mod permanence;
mod promise;
mod promises;
mod shadow_breach;
mod shadowing;
mod site_change;
mod site_pair;
mod site_promises;
mod statement;
mod takedown;

pub use broken::{Broken, Link, Origin};
pub use case_breach::report_exact_case;
pub use change::{Change, ChangeKind};
pub(crate) use destination::Destination;
pub use diff::compare;
pub(super) use gap::Gap;
pub use near_ends::near_ends;
pub use neighbourhood::Neighbourhood;
pub use permanence::{Breach, breaches, report_known};
pub use promises::Promises;
pub use shadow_breach::report_shadowing;
pub(super) use shadowing::is_news;
pub use shadowing::{NewLink, Shadowed, shadowed, shadowed_by, would_shadow};
pub use site_change::{SiteChange, SiteChangeKind, compare_sites};
pub(super) use site_pair::SitePair;
pub use statement::{Statement, Statements, TRAILER};
