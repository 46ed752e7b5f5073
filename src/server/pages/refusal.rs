//! The page of a refused request, for people.

use askama::Template;
use hyper::header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde::Serialize;

use crate::html::Frame;
use crate::mapping::Site;

use super::context::{FormAction, PageContext, negotiated};
use crate::server::http::{Content, PageFormat, TEXT, response};
use crate::server::links::BadListQuery;

#[derive(Template, Serialize)]
#[template(path = "refusal.html")]
struct RefusalPage<'p> {
    #[serde(skip)]
    frame: Frame<'p>,
    #[serde(skip)]
    heading: &'static str,
    #[serde(skip)]
    reason: &'static str,
    error: String,
    revision: &'p str,
}

/// Returns whether a status is that of a refusal, which has a page.
pub(crate) fn is_refusal(status: StatusCode) -> bool {
    texts(status).is_some()
}

/// Returns the keys of the texts of a refusal's page: its heading, and the reason.
fn texts(status: StatusCode) -> Option<[&'static str; 2]> {
    Some(match status {
        StatusCode::BAD_REQUEST => ["refused-request-title", "refused-request"],
        StatusCode::FORBIDDEN => ["refused-origin-title", "refused-origin"],
        StatusCode::METHOD_NOT_ALLOWED => ["refused-method-title", "refused-method"],
        StatusCode::REQUEST_TIMEOUT => ["refused-slow-title", "refused-slow"],
        StatusCode::PAYLOAD_TOO_LARGE => ["refused-size-title", "refused-size"],
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ["refused-type-title", "refused-type"],
        StatusCode::MISDIRECTED_REQUEST => ["refused-host-title", "refused-host"],
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => ["refused-fields-title", "refused-fields"],
        StatusCode::SERVICE_UNAVAILABLE => ["refused-for-now-title", "refused-for-now"],
        _ => return None,
    })
}

impl PageContext<'_> {
    /// Returns a refusal in the form that the client prefers; unchanged, a line of text, if the
    /// client prefers none, or if the refusal already has that form.
    pub(crate) fn explained(
        &self,
        site: Option<&Site>,
        refusal: Response<Content>,
    ) -> Response<Content> {
        let status = refusal.status();
        let media_type = refusal.headers().get(CONTENT_TYPE);
        let Some([heading, reason]) = texts(status).filter(|_| media_type == Some(&TEXT)) else {
            return refusal;
        };
        let fields = [ALLOW, CACHE_CONTROL, CONNECTION, RETRY_AFTER]
            .map(|name| (refusal.headers().get(&name).cloned(), name));
        let frame = self.frame(site);
        let mut response = match self.form {
            PageFormat::Any => negotiated(refusal),
            PageFormat::Html | PageFormat::Json => {
                let page = RefusalPage {
                    heading: frame.text(heading),
                    reason: frame.text(reason),
                    error: status
                        .canonical_reason()
                        .unwrap_or_default()
                        .to_ascii_lowercase(),
                    revision: self.revision,
                    frame,
                };
                self.render(status, FormAction::None, &page)
            }
        };
        for (value, name) in fields {
            if let Some(value) = value {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }

    /// Returns the answer to a query for a list of links that has no meaning, with what is wrong with
    /// it.
    pub(crate) fn bad_list_query(&self, site: &Site, error: BadListQuery) -> Response<Content> {
        let status = StatusCode::BAD_REQUEST;
        if self.form == PageFormat::Any {
            return negotiated(response::body(status, TEXT, format!("{error}\n")));
        }
        let frame = self.frame(Some(site));
        let page = RefusalPage {
            heading: frame.text("refused-search-title"),
            reason: frame.text(match error {
                BadListQuery::UnknownKey | BadListQuery::Repeated => "refused-search-repeated",
                BadListQuery::TooLong => "refused-search-long",
                BadListQuery::UnknownState => "refused-search-state",
            }),
            error: error.to_string(),
            revision: self.revision,
            frame,
        };
        self.render(status, FormAction::None, &page)
    }
}
