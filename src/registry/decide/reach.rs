//! The reach of codes: a code whose path lies below another site of the same host is never answered
//! by its own site.

use thiserror::Error;

use crate::mapping::{Site, Table};

/// A code that is unreachable because of another site of the same host.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the code {code:?} cannot be reached: the site {site} answers its path")]
pub struct CodeUnreachable {
    /// The code.
    pub code: String,
    /// The base URL of that site.
    pub site: String,
}

impl CodeUnreachable {
    /// The remedy.
    pub const HINT: &str = "choose another code";
}

/// Refuses a code of a site whose path another site answers, which is below that one.
pub(crate) fn check_reach(table: &Table, site: &Site, code: &str) -> Result<(), CodeUnreachable> {
    match table.site_over(site, code) {
        None => Ok(()),
        Some(other) => Err(CodeUnreachable {
            code: code.to_owned(),
            site: other.base_url().as_str().to_owned(),
        }),
    }
}
