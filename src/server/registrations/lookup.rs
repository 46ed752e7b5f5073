//! Looking links up in the live table, by code or by target.

use std::borrow::Cow;

use hyper::StatusCode;
use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization as _;
use url::form_urlencoded;

use crate::mapping::{Entry, Site, Table, Target, Timestamp};

use super::problem_type::ProblemType;
use super::response::{ApiResponse, LinkView, ProblemDetails, RequestError};
use crate::server::state::{LinkChecks, Snapshot};

/// The link that is looked up.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LinkQuery<'r> {
    by: By<'r>,
    /// The base URL of the site, if given.
    site: Option<Cow<'r, str>>,
}

#[derive(Debug, PartialEq, Eq)]
enum By<'r> {
    /// The code, still percent-encoded.
    Code(&'r str),
    Url(Cow<'r, str>),
}

impl<'r> LinkQuery<'r> {
    /// Reads a lookup from the rest of a path, which is the code, or if there is none from the
    /// query.
    ///
    /// # Errors
    ///
    /// Fails if the query has other keys, or one of them twice.
    pub(super) fn read(code: Option<&'r str>, query: Option<&'r str>) -> Result<Self, ProblemType> {
        let (mut url, mut site) = (None, None);
        for (key, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let place = match &*key {
                "url" if code.is_none() => &mut url,
                "site" => &mut site,
                _ => return Err(ProblemType::BadQuery),
            };
            if place.replace(value).is_some() {
                return Err(ProblemType::BadQuery);
            }
        }
        let by = match code {
            Some(code) => By::Code(code),
            None => By::Url(url.ok_or(ProblemType::BadQuery)?),
        };
        Ok(Self { by, site })
    }

    /// Returns the answer, with what is known of the link's target; if no site is given, `host` chooses
    /// one.
    pub(super) fn answer(
        &self,
        live: &Snapshot,
        host: Option<&str>,
        checks: Option<&LinkChecks>,
        now: Timestamp,
    ) -> ApiResponse {
        let Some(site) = site_of(&live.table, self.site.as_deref(), host) else {
            return ProblemType::NotFound.answer();
        };
        let entry = match &self.by {
            By::Code(code) => by_code(site, code),
            By::Url(url) => match Target::parse(url) {
                Ok(target) => by_target(site, &target, now),
                Err(error) => {
                    let finding = RequestError {
                        pointer: String::new(),
                        message: error.to_string(),
                        hint: error.hint(),
                    };
                    return ProblemDetails::invalid(None, vec![finding]).into();
                }
            },
        };
        let commit = live.revision.commit();
        match entry {
            Some(entry) => {
                let link = LinkView::of(entry, commit, now);
                let link_check = checks.and_then(|checks| checks.summary(entry));
                ApiResponse::link(StatusCode::OK, &link.checked(link_check))
            }
            None => ProblemType::NotFound.answer(),
        }
    }
}

/// Returns the site with the given base URL, or if none is given, the one that the host chooses.
pub(super) fn site_of<'t>(
    table: &'t Table,
    named: Option<&str>,
    host: Option<&str>,
) -> Option<&'t Site> {
    match named {
        Some(named) => {
            let mut sites = table.sites().iter();
            sites.find(|site| site.base_url().as_str() == named)
        }
        None => table.site_of(host, "/"),
    }
}

fn by_code<'t>(site: &'t Site, code: &str) -> Option<Entry<'t>> {
    let code = percent_decode_str(code).decode_utf8().ok()?;
    site.lookup(&code.nfc().collect::<String>())
}

/// Returns the entry with that target: a live one before one that is gone.
fn by_target<'t>(site: &'t Site, target: &Target<'_>, now: Timestamp) -> Option<Entry<'t>> {
    let entries = site.leading_to(target.as_str());
    let live = entries.iter().find(|entry| !entry.is_gone(now));
    live.or(entries.first()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_one_meaning() {
        let by_url =
            LinkQuery::read(None, Some("url=https%3A%2F%2Fe.org%2F%3Fa%3Db&site=s")).unwrap();
        assert_eq!(by_url.by, By::Url("https://e.org/?a=b".into()));
        assert_eq!(by_url.site.as_deref(), Some("s"));
        let by_code = LinkQuery::read(Some("a/b"), None).unwrap();
        assert_eq!(by_code.by, By::Code("a/b"));
        for (code, query) in [
            (None, ""),
            (None, "url=a&url=b"),
            (None, "url=a&page=2"),
            (Some("a"), "url=a"),
        ] {
            assert_eq!(
                LinkQuery::read(code, Some(query)),
                Err(ProblemType::BadQuery)
            );
        }
    }
}
