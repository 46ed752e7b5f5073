//! The error about a site that a table does not have.

/// The maximum number of named sites: a table may have thousands.
const SHOWN: usize = 4;

/// A table does not have the named site.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the table has no site {site:?}, only {}", first_of(sites))]
pub struct UnknownSite {
    /// The name given.
    pub site: String,
    /// The existing base URLs.
    pub sites: Vec<String>,
}

/// Returns the first of some names, and how many more there are.
pub(crate) fn first_of(names: &[String]) -> String {
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
