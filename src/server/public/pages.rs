//! Pages: for people who do not just follow a link, with other forms for programs.
//!
//! They are rendered here from templates, without a script, and load nothing from elsewhere: the
//! policy sent along forbids it. The one style is part of the page, and allowed by its hash, which
//! is computed from the same text that the templates include.

use std::borrow::Cow;
use std::sync::LazyLock;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, VARY};
use hyper::{Response, StatusCode};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::linkcheck::LinkSummary;
use crate::mapping::{Entry, Forward, Site, Timestamp};

use super::check_sentence::CheckSentence;
use crate::server::http::{Content, JSON, PageFormat, TEXT, readable, response};

/// The style of every page, as `base.html` includes it.
pub(super) const STYLE: &str = include_str!("../../../templates/style.css");

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

/// How many codes are suggested for an unknown one.
const SUGGESTIONS: usize = 5;

/// The context of all pages: the client, the time, and the table that answers.
pub(crate) struct Page<'p> {
    pub(crate) form: PageFormat,
    pub(crate) now: Timestamp,
    /// The revision in its short form.
    pub(crate) revision: &'p str,
}

#[derive(Template, Serialize)]
#[template(path = "landing.html")]
struct Landing<'p> {
    base_url: &'p str,
    entries: usize,
    revision: &'p str,
}

#[derive(Template, Serialize)]
#[template(path = "preview.html")]
struct Preview<'p> {
    code: Cow<'p, str>,
    short_url: String,
    target: Option<Cow<'p, str>>,
    status: u16,
    forward: &'static str,
    #[serde(skip)]
    forwards: Option<&'static str>,
    title: Option<&'p str>,
    owner: Option<&'p str>,
    tags: Vec<&'p str>,
    archive: Option<&'p str>,
    valid_until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link_check: Option<LinkSummary>,
    #[serde(skip)]
    check: Option<CheckSentence>,
    revision: &'p str,
}

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

#[derive(Template, Serialize)]
#[template(path = "not_found.html")]
struct NotFound<'p> {
    error: &'static str,
    #[serde(skip)]
    asked: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion<'p>>,
    revision: &'p str,
}

#[derive(Serialize)]
struct Suggestion<'p> {
    code: Cow<'p, str>,
    /// On the host that the client used, which may not be the table's.
    #[serde(skip)]
    path: String,
    short_url: String,
}

impl Page<'_> {
    /// Returns the page of a base URL.
    pub(crate) fn landing(&self, site: &Site) -> Response<Content> {
        let page = Landing {
            base_url: site.base_url().as_str(),
            entries: site.len(),
            revision: self.revision,
        };
        self.render(StatusCode::OK, &page)
    }

    /// Returns the page that shows the target of a link, and what is known of it if links are checked.
    pub(crate) fn preview(
        &self,
        entry: Entry<'_>,
        link_check: Option<LinkSummary>,
    ) -> Response<Content> {
        let page = Preview {
            code: entry.code(),
            short_url: entry.short_url(),
            target: entry.target(),
            status: entry.status().code(),
            forward: entry.forward().name(),
            forwards: forwards(entry.forward()),
            title: entry.title(),
            owner: entry.owner(),
            tags: entry.tags().collect(),
            archive: entry.archive(),
            link_check,
            check: link_check.and_then(CheckSentence::of),
            valid_until: entry.gone_from().map(|time| time.to_string()),
            revision: self.revision,
        };
        self.render(StatusCode::OK, &page)
    }

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

    /// Returns the answer to an unknown path: for a person, with the nearest codes of the site.
    pub(crate) fn not_found(&self, site: Option<&Site>, path: &str) -> Response<Content> {
        let suggestions = match (self.form, site) {
            (PageFormat::Html | PageFormat::Json, Some(site)) => suggestions(site, path, self.now),
            _ => Vec::new(),
        };
        let page = NotFound {
            error: "not found",
            asked: readable(path),
            suggestions,
            revision: self.revision,
        };
        if self.form == PageFormat::Any {
            let response = response::body(StatusCode::NOT_FOUND, TEXT, "no such short link\n");
            return negotiated(response);
        }
        self.render(StatusCode::NOT_FOUND, &page)
    }

    fn render(&self, status: StatusCode, page: &(impl Template + Serialize)) -> Response<Content> {
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
fn negotiated(response: Response<Content>) -> Response<Content> {
    let response = response::with(response, VARY, "Accept");
    let response = response::with(response, CACHE_CONTROL, "no-cache");
    response::with(response, REFERRER_POLICY, "no-referrer")
}

fn forwards(forward: Forward) -> Option<&'static str> {
    match forward {
        Forward::None => None,
        Forward::Query => Some("the query"),
        Forward::Path => Some("the path after the code"),
        Forward::PathAndQuery => Some("the path after the code, and the query"),
    }
}

fn suggestions<'p>(site: &'p Site, path: &str, now: Timestamp) -> Vec<Suggestion<'p>> {
    let suggest = |code: Cow<'p, str>| {
        let short_url = site.short_url(&code);
        Suggestion {
            path: path_of(&short_url).to_owned(),
            code,
            short_url,
        }
    };
    let codes = site.suggestions(path, SUGGESTIONS, now);
    codes.into_iter().map(suggest).collect()
}

/// Returns the part of an absolute URL after the authority.
fn path_of(url: &str) -> &str {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let path = url[authority..]
        .find('/')
        .map_or(url.len(), |at| authority + at);
    &url[path..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "\"'><script>alert(1)</script>&";

    fn hostile_preview(form: PageFormat) -> Response<Content> {
        let preview = Preview {
            code: HOSTILE.into(),
            short_url: HOSTILE.to_owned(),
            target: Some(HOSTILE.into()),
            status: 302,
            forward: "none",
            forwards: None,
            title: Some(HOSTILE),
            owner: Some(HOSTILE),
            tags: vec![HOSTILE, HOSTILE],
            archive: Some(HOSTILE),
            valid_until: None,
            link_check: None,
            check: None,
            revision: HOSTILE,
        };
        let page = Page {
            form,
            now: Timestamp::from_unix(0),
            revision: HOSTILE,
        };
        page.render(StatusCode::OK, &preview)
    }

    fn text(response: Response<Content>) -> String {
        use http_body_util::BodyExt;
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let collected = runtime.unwrap().block_on(response.into_body().collect());
        let bytes = collected.unwrap().to_bytes();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn every_value_is_escaped() {
        let page = text(hostile_preview(PageFormat::Html));
        assert!(!page.contains("<script"));
        assert!(!page.contains(HOSTILE));
        assert!(
            page.contains("&#60;script&#62;alert(1)&#60;/script&#62;"),
            "{page}"
        );
    }

    #[test]
    fn the_policy_allows_the_style_that_is_sent() {
        let response = hostile_preview(PageFormat::Any);
        let policy = response.headers()[CONTENT_SECURITY_POLICY]
            .to_str()
            .unwrap();
        let allowed = policy.to_owned();
        let page = text(response);
        let style = page.split("<style>").nth(1).unwrap();
        let style = style.split("</style>").next().unwrap();
        let hash = STANDARD.encode(Sha256::digest(style));
        assert!(
            allowed.contains(&format!("style-src 'sha256-{hash}'")),
            "{allowed}"
        );
    }

    #[test]
    fn programs_get_json() {
        let response = hostile_preview(PageFormat::Json);
        let value: serde_json::Value = serde_json::from_str(&text(response)).unwrap();
        assert_eq!(value["target"], HOSTILE);
        assert_eq!(value["status"], 302);
    }

    #[test]
    fn a_path_is_what_follows_the_authority() {
        assert_eq!(path_of("https://short.code/a/b"), "/a/b");
        assert_eq!(path_of("https://short.code:8443/go/a"), "/go/a");
        assert_eq!(path_of("https://short.code"), "");
    }
}
