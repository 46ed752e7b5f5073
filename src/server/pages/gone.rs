//! The page of a retired or expired link.

use std::borrow::Cow;

use askama::Template;
use hyper::{Response, StatusCode};
use serde::Serialize;

use crate::mapping::{Entry, Timestamp};

use super::context::PageContext;
use crate::server::http::Content;

#[derive(Template, Serialize)]
#[template(path = "gone.html")]
struct GonePage<'p> {
    error: &'static str,
    code: Cow<'p, str>,
    short_url: String,
    title: Option<&'p str>,
    owner: Option<&'p str>,
    archive: Option<&'p str>,
    since: Option<String>,
    revision: &'p str,
}

impl PageContext<'_> {
    /// Returns the page of a retired or expired entry.
    pub(crate) fn gone(&self, entry: Entry<'_>) -> Response<Content> {
        let page = GonePage {
            error: "gone",
            code: entry.code(),
            short_url: entry.short_url(),
            title: entry.title(),
            owner: entry.owner(),
            archive: entry.archive(),
            since: entry.gone_from().and_then(|time| {
                // An entry retired with `true` has no date of retirement.
                (time > Timestamp::MIN).then(|| time.to_string())
            }),
            revision: self.revision,
        };
        self.render(StatusCode::GONE, &page)
    }
}
