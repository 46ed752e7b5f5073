//! What has changed between two tables, for the people who use them.

mod change;
mod diff;
mod near_ends;
mod site_change;

pub use change::{Change, ChangeKind};
pub use diff::compare;
pub use near_ends::near_ends;
pub use site_change::{SiteChange, SiteChangeKind, compare_sites};
