//! Lists of links in JSON.

use hyper::header::{CACHE_CONTROL, REFERRER_POLICY};
use hyper::{Response, StatusCode};
use serde::Serialize;

use super::link_view::LinkView;
use super::search::Selection;
use crate::server::http::{Content, JSON, response};

/// The variant of a list in JSON.
pub(crate) const JSON_VARIANT: &str = "json";

#[derive(Serialize)]
struct ListedLinks<'s> {
    links: Vec<LinkView>,
    /// The code after which the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'s str>,
}

/// Returns a list in JSON, which may be kept if it is validated each time.
pub(crate) fn json(selection: &Selection<'_>) -> Response<Content> {
    let entries = selection.entries.iter();
    let listing = ListedLinks {
        links: entries
            .map(|entry| LinkView::of(*entry, None, selection.now))
            .collect(),
        next: selection.next.as_deref(),
    };
    let response = response::json(StatusCode::OK, JSON, &listing);
    let response = response::with(response, CACHE_CONTROL, "no-cache");
    response::with(response, REFERRER_POLICY, "no-referrer")
}
