//! What all pages are made with: the client, the time, and the table that answers; and how they are
//! sent.
//!
//! They are rendered here from templates, without a script, and load nothing from elsewhere: the
//! policy sent along forbids it. The one style is part of the page, and allowed by its hash, which
//! is computed from the same text that the templates include.

use std::sync::LazyLock;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, VARY};
use hyper::{Response, StatusCode};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::mapping::Timestamp;

use crate::server::http::{Content, JSON, PageFormat, response};

/// The style of every page, as `base.html` includes it.
pub(crate) const STYLE: &str = include_str!("../../../templates/style.css");

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// The content security policy of pages. The favicon is the only thing a browser may load.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).expect("base64 and literals are fit for a header")
});

/// The context of all pages: the client, the time, and the table that answers.
pub(crate) struct PageContext<'p> {
    pub(crate) form: PageFormat,
    pub(crate) now: Timestamp,
    /// The revision in its short form.
    pub(crate) revision: &'p str,
}

impl PageContext<'_> {
    /// Returns a page in the form that the client prefers.
    pub(super) fn render(
        &self,
        status: StatusCode,
        page: &(impl Template + Serialize),
    ) -> Response<Content> {
        if self.form == PageFormat::Json {
            return negotiated(response::json(status, JSON, page));
        }
        let html = page
            .render()
            .expect("rendering to memory does not fail, nor do our templates");
        let mut response = response::body(status, HTML, html);
        let headers = response.headers_mut();
        headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
        negotiated(response)
    }
}

/// Adds the headers of all negotiated answers.
pub(super) fn negotiated(response: Response<Content>) -> Response<Content> {
    let response = response::with(response, VARY, "Accept");
    let response = response::with(response, CACHE_CONTROL, "no-cache");
    response::with(response, REFERRER_POLICY, "no-referrer")
}
