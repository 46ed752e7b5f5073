//! The page of a request that is refused, where a person sees it.

use askama::Template;
use hyper::header::{ALLOW, CACHE_CONTROL, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde_json::json;

use crate::html::Frame;
use crate::mapping::Site;

use super::context::{FormAction, PageContext, negotiated};
use crate::server::http::{Content, JSON, PageFormat, TEXT, response};
use crate::server::links::BadListQuery;

#[derive(Template)]
#[template(path = "refusal.html")]
struct RefusalPage<'p> {
    frame: Frame<'p>,
    heading: &'static str,
    reason: &'static str,
}

impl PageContext<'_> {
    /// Returns a refusal as a page if a person sees it, and otherwise as it is: programs go by its
    /// status.
    pub(crate) fn explained(
        &self,
        site: Option<&Site>,
        refusal: Response<Content>,
    ) -> Response<Content> {
        let frame = self.frame(site);
        let (heading, reason) = match refusal.status() {
            _ if self.form != PageFormat::Html => return refusal,
            StatusCode::METHOD_NOT_ALLOWED => (
                frame.text("refused-method-title"),
                frame.text("refused-method"),
            ),
            StatusCode::MISDIRECTED_REQUEST => {
                (frame.text("refused-host-title"), frame.text("refused-host"))
            }
            StatusCode::SERVICE_UNAVAILABLE => (
                frame.text("refused-for-now-title"),
                frame.text("refused-for-now"),
            ),
            _ => return refusal,
        };
        let page = RefusalPage {
            frame,
            heading,
            reason,
        };
        let mut response = self.html(refusal.status(), FormAction::None, &page);
        for name in [ALLOW, RETRY_AFTER, CACHE_CONTROL] {
            if let Some(value) = refusal.headers().get(&name) {
                response.headers_mut().insert(name, value.clone());
            }
        }
        response
    }

    /// Returns the answer to a query for a list of links that has no meaning, with what is wrong with
    /// it.
    pub(crate) fn bad_list_query(&self, site: &Site, error: BadListQuery) -> Response<Content> {
        let status = StatusCode::BAD_REQUEST;
        match self.form {
            PageFormat::Json => {
                let body = json!({ "error": error.to_string() });
                return negotiated(response::json(status, JSON, &body));
            }
            PageFormat::Any => {
                return negotiated(response::body(status, TEXT, format!("{error}\n")));
            }
            PageFormat::Html => {}
        }
        let frame = self.frame(Some(site));
        let page = RefusalPage {
            heading: frame.text("refused-search-title"),
            reason: frame.text(match error {
                BadListQuery::UnknownKey | BadListQuery::Repeated => "refused-search-repeated",
                BadListQuery::TooLong => "refused-search-long",
                BadListQuery::UnknownState => "refused-search-state",
            }),
            frame,
        };
        self.html(status, FormAction::None, &page)
    }
}
