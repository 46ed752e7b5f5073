//! Looking up links in the live table, by code or by target, or listing them.

use std::borrow::Cow;
use std::sync::Arc;

use hyper::StatusCode;
use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization as _;
use url::form_urlencoded;

use crate::mapping::{Entry, Site, Table, Target, Timestamp};

use super::problem_type::ProblemType;
use super::response::{ApiResponse, ProblemDetails, RequestError};
use crate::server::links::{LinkView, ListQuery, Search};
use crate::server::state::{LinkChecks, Snapshot};

/// A lookup.
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
    /// Not one link but a list of them.
    List(Box<ListQuery>),
}

impl<'r> LinkQuery<'r> {
    /// Reads a lookup from the rest of a path, which is the code, or if there is none from the
    /// query.
    ///
    /// # Errors
    ///
    /// Fails if the query has other keys, or one of them twice, or keys of a list and a target.
    pub(super) fn read(code: Option<&'r str>, query: Option<&'r str>) -> Result<Self, ProblemType> {
        let (mut url, mut site, mut list) = (None, None, None);
        for (key, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let place = match &*key {
                "url" if code.is_none() => &mut url,
                "site" => &mut site,
                _ if code.is_none() => {
                    let list = list.get_or_insert_with(Box::<ListQuery>::default);
                    (list.set(&key, &value)).map_err(|_| ProblemType::BadQuery)?;
                    continue;
                }
                _ => return Err(ProblemType::BadQuery),
            };
            if place.replace(value).is_some() {
                return Err(ProblemType::BadQuery);
            }
        }
        let by = match (code, url, list) {
            (Some(code), ..) => By::Code(code),
            (None, Some(url), None) => By::Url(url),
            (None, None, list) => By::List(list.unwrap_or_default()),
            (None, Some(_), Some(_)) => return Err(ProblemType::BadQuery),
        };
        Ok(Self { by, site })
    }

    /// Returns the search for a list of links, if the lookup is for one.
    ///
    /// # Errors
    ///
    /// Fails if there is no such site.
    pub(super) fn search(
        &self,
        live: &Arc<Snapshot>,
        host: Option<&str>,
        now: Timestamp,
    ) -> Option<Result<Search, ProblemType>> {
        let By::List(query) = &self.by else {
            return None;
        };
        let site = site_of(&live.table, self.site.as_deref(), host);
        let search = site.map(|site| Search::new(live, site, ListQuery::clone(query), now));
        Some(search.ok_or(ProblemType::NotFound))
    }

    /// Returns the link, with the result of its check; if no site is given, `host` chooses one.
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
            By::List(_) => None,
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

/// Returns the base URL that a query names, if it does.
///
/// # Errors
///
/// Fails if the query has other keys, or this one twice.
pub(super) fn site_named(query: Option<&str>) -> Result<Option<Cow<'_, str>>, ProblemType> {
    // A code allows no other key.
    LinkQuery::read(Some(""), query).map(|query| query.site)
}

/// Returns a code without percent-encoding.
pub(super) fn decoded(code: &str) -> Option<String> {
    let code = percent_decode_str(code).decode_utf8().ok()?;
    Some(code.nfc().collect())
}

fn by_code<'t>(site: &'t Site, code: &str) -> Option<Entry<'t>> {
    site.lookup_in_any_case(&decoded(code)?)
}

/// Returns the entry with that target, preferring a live one.
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
        let list = LinkQuery::read(None, Some("q=gnu&site=s&after=a")).unwrap();
        assert_eq!(list.site.as_deref(), Some("s"));
        assert!(matches!(list.by, By::List(query) if query.to_query() == "q=gnu&after=a"));
        let all = LinkQuery::read(None, None).unwrap();
        assert!(matches!(all.by, By::List(query) if query.to_query().is_empty()));
        for (code, query) in [
            (None, "url=a&url=b"),
            (None, "url=a&q=b"),
            (None, "page=2"),
            (None, "q=a&q=b"),
            (None, "state=dead"),
            (Some("a"), "q=a"),
            (Some("a"), "url=a"),
        ] {
            assert_eq!(
                LinkQuery::read(code, Some(query)),
                Err(ProblemType::BadQuery)
            );
        }
    }
}
