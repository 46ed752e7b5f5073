//! `/-/go?q=`: for a code, an alias or a short link, its target; for anything else, a search.
//!
//! It only redirects to targets of the table. Input from an address bar need not be repaired: the
//! search shows similar links.

use hyper::header::{CACHE_CONTROL, CONTENT_LENGTH, HeaderValue, LOCATION, REFERRER_POLICY};
use hyper::{Response, StatusCode};
use url::form_urlencoded;

use crate::mapping::{self, Outcome, Site, Table};

use crate::server::http::{Answered, Content, CountedResponse, response};
use crate::server::links::ListQuery;
use crate::server::pages::{PageContext, path_of};

/// Returns the answer in a site, and how it is counted.
pub(super) fn answer(
    table: &Table,
    site: &Site,
    page: &PageContext<'_>,
    query: Option<&str>,
) -> CountedResponse {
    let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let text = pairs.find_map(|(key, value)| (key == "q").then_some(value));
    let text = text.unwrap_or_default();
    let mut named = table.named(text.trim()).into_iter();
    if let Some(entry) = named.find(|entry| std::ptr::eq(entry.site(), site)) {
        let link = entry.short_url();
        let asked = mapping::Request {
            host: Some(site.base_url().host()),
            path: path_of(&link),
            query: None,
            accept: None,
        };
        match table.resolve(&asked, page.now) {
            Outcome::Redirect(hit) => return (Some(Answered::Redirect), see(hit.location.into())),
            Outcome::Gone(entry) => return (Some(Answered::Gone), page.gone(entry)),
            // Another site may answer for the path.
            _ => {}
        }
    }
    let query = ListQuery::of_text(&text).to_query();
    let path = site.base_url().path();
    (Some(Answered::Page), see(format!("{path}-/links?{query}")))
}

/// Returns a redirect that is not cached: the same input may mean another link tomorrow.
fn see(location: String) -> Response<Content> {
    let Ok(location) = HeaderValue::try_from(location) else {
        // Targets and encoded queries are ASCII by construction.
        return response::line(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let mut response = Response::new(Content::default());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(LOCATION, location);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let no_referrer = HeaderValue::from_static("no-referrer");
    headers.insert(REFERRER_POLICY, no_referrer);
    headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    response
}
