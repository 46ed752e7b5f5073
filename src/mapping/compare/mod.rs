//! Differences between two tables, and the published links that they break: changes, permanence,
//! shadowing.

mod breaches;
mod changes;
mod compared;
mod histories;
#[cfg(test)]
mod in_pieces;

pub use breaches::{
    Breach, Broken, Link, NewLink, Origin, Shadowed, Statement, Statements, TRAILER, breaches,
    report_exact_case, report_known, report_shadowing, shadowed, shadowed_by, would_shadow,
};
pub(super) use breaches::{Gap, is_news};
pub use changes::{
    Change, ChangeKind, SiteChange, SiteChangeKind, compare, compare_sites, near_ends,
};
pub(crate) use compared::Destination;
pub(super) use compared::SitePair;
pub use histories::{Neighbourhood, Promises};
