//! Links whose promise a new table breaks: by leading elsewhere, by shadowing, or in another case.

mod broken;
mod case_breach;
mod gap;
mod permanence;
mod shadow_breach;
mod shadowing;
mod statement;
mod takedown;

pub use broken::{Broken, Link, Origin};
pub(super) use case_breach::folds_case;
pub use case_breach::report_exact_case;
pub(in crate::mapping) use gap::Gap;
pub use permanence::{Breach, breaches, report_known};
pub use shadow_breach::report_shadowing;
pub(in crate::mapping) use shadowing::is_news;
pub use shadowing::{NewLink, Shadowed, shadowed, shadowed_by, would_shadow};
pub use statement::{Statement, Statements, TRAILER};
pub(super) use takedown::is_taken_down;
