//! URLs to which a key of a site leads: they are checked as those of entries are.

use super::url_checks::{NOT_CANONICAL, check_private};
use crate::mapping::parse::{Located, Reader, Stop};
use crate::mapping::value::{Rule, Target};

/// Reads the URL of a key to which paths are appended, and reports one that is invalid.
pub(super) fn prefix_url(
    reader: &mut Reader<'_, '_>,
    key: &str,
) -> Result<Option<Located<Target<'static>>>, Stop> {
    let read = site_url(reader, key)?;
    let Some(Located { value, position }) = &read else {
        return Ok(None);
    };
    let url = value.as_str();
    if url.ends_with('/') && !url.contains(['?', '#']) {
        return Ok(read);
    }
    let message = "unknown paths cannot be appended to a URL that ends like this";
    let hint = "end the URL in \"/\", without a query or a fragment";
    reader.problem_with_hint(Rule::FallbackUrlEnding, *position, message, hint);
    Ok(None)
}

/// Reads the URL of a key, and reports one that is invalid.
pub(super) fn site_url(
    reader: &mut Reader<'_, '_>,
    key: &str,
) -> Result<Option<Located<Target<'static>>>, Stop> {
    let Some(Located { value, position }) = reader.url(key)? else {
        return Ok(None);
    };
    let report = reader.report();
    match Target::parse(&value) {
        Ok(target) => {
            if value != target.as_str() {
                let hint = format!("write {:?}", target.as_str());
                report.problem_with_hint(Rule::UrlNotCanonical, position, NOT_CANONICAL, hint);
            }
            check_private(report, &target, position);
            let value = target.into_owned();
            Ok(Some(Located { value, position }))
        }
        Err(error) => {
            report.problem(error.rule(), position, error.to_string(), error.hint());
            Ok(None)
        }
    }
}
