//! All paths below a code: where they lead, as two of them show.

use crate::exchange::read::rows::RowError;
use crate::mapping::{Forward, Misfit};

/// What follows a code when it is found out where everything below it leads.
pub(super) const BELOW: [&str; 2] = ["~a/~b", "~c"];

/// The reason for a rule that uses what is below a code in another way than a table does.
pub(super) const OTHERWISE_USED: RowError =
    RowError::NoLink("a path below a code is only appended to the URL, or not used at all");

/// The reason for a rule by which paths below a code are gone.
pub(super) const GONE_BELOW: RowError =
    RowError::NoLink("a table has no paths below a code that are gone");

/// Returns what a link forwards if all paths below its code lead to a URL, to which they are appended or
/// not, with the query or without.
///
/// # Errors
///
/// If the URL cannot take that.
pub(super) fn forward_below(
    url: &str,
    is_appended: bool,
    with_query: bool,
) -> Result<Forward, RowError> {
    let forward = match (is_appended, with_query) {
        (true, true) => Forward::PathAndQuery,
        (true, false) => Forward::Path,
        (false, true) => Forward::AllAndQuery,
        (false, false) => Forward::All,
    };
    match Misfit::of(forward, url) {
        Some(_) => Err(RowError::MISFIT),
        None => Ok(forward),
    }
}
