//! The context of all pages: the client, the time, and the table that answers; their frame, and how
//! they are sent.
//!
//! Pages are rendered from templates, without scripts, and load nothing from elsewhere: their
//! policy forbids it. The one style is part of the page, and allowed by its hash, which is computed
//! from the same text that the templates include.

use std::sync::LazyLock;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{
    CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, VARY,
};
use hyper::{Response, StatusCode};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::html::{Frame, Language, STYLE};
use crate::mapping::{Site, Timestamp};

use crate::server::http::{Content, JSON, PageFormat, response};

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// The fields of a request by which the forms and languages of pages are chosen.
pub(crate) const VARIES: &str = "Accept, Accept-Language";

/// The content security policies of pages without and with forms.
static POLICIES: LazyLock<[HeaderValue; 2]> = LazyLock::new(|| ["'none'", "'self'"].map(policy));

/// Returns a content security policy. Our own images are the only thing a browser may load.
fn policy(form_action: &str) -> HeaderValue {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src 'self'; base-uri 'none'; \
         form-action {form_action}; frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).expect("base64 and literals are fit for a header")
}

/// Where the forms of a page may send their input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormAction {
    /// The page has no form.
    None,
    /// To this server, to which browsers then send the address of the page as the referrer.
    Own,
}

/// The context of all pages: the client, the time, and the table that answers.
pub(crate) struct PageContext<'p> {
    pub(crate) form: PageFormat,
    pub(crate) language: Language,
    pub(crate) now: Timestamp,
    /// The revision in its short form; empty before there is a table.
    pub(crate) revision: &'p str,
    /// Whether anyone may list the links.
    pub(crate) is_public: bool,
}

impl PageContext<'_> {
    /// Returns the frame of a page, of a site if one was chosen.
    pub(super) fn frame<'a>(&'a self, site: Option<&'a Site>) -> Frame<'a> {
        let base_path = site.map(|site| site.base_url().path());
        let own = |page: &str| Some(format!("{}{page}", base_path?));
        let frame = Frame::of(self.language, site);
        // Where the base URL leads elsewhere, the landing page is below it.
        let has_home = site.is_some_and(|site| site.about().home().is_some());
        Frame {
            home: if has_home { own("-/") } else { frame.home },
            list: own("-/links").filter(|_| self.is_public),
            opensearch: own("-/opensearch.xml").filter(|_| self.is_public),
            propose: own("-/propose"),
            revision: (!self.revision.is_empty()).then_some(self.revision),
            ..frame
        }
    }

    /// Returns a page in the form that the client prefers.
    pub(super) fn render(
        &self,
        status: StatusCode,
        forms: FormAction,
        page: &(impl Template + Serialize),
    ) -> Response<Content> {
        if self.form == PageFormat::Json {
            return negotiated(response::json(status, JSON, page));
        }
        self.html(status, forms, page)
    }

    /// Returns a page in HTML.
    pub(super) fn html(
        &self,
        status: StatusCode,
        forms: FormAction,
        page: &impl Template,
    ) -> Response<Content> {
        // RFC 9110 section 8.5.
        let language = HeaderValue::from_static(self.language.tag());
        let html = page
            .render()
            .expect("rendering to memory does not fail, nor do our templates");
        let mut response = response::body(status, HTML, html);
        let headers = response.headers_mut();
        headers.insert(CONTENT_LANGUAGE, language);
        headers.insert(CONTENT_SECURITY_POLICY, POLICIES[forms as usize].clone());
        let response = negotiated(response);
        match forms {
            FormAction::None => response,
            FormAction::Own => response::with(response, REFERRER_POLICY, "same-origin"),
        }
    }
}

/// Adds the headers of all negotiated answers.
pub(super) fn negotiated(response: Response<Content>) -> Response<Content> {
    let response = response::with(response, VARY, VARIES);
    let response = response::with(response, CACHE_CONTROL, "no-cache");
    response::with(response, REFERRER_POLICY, "no-referrer")
}
