//! The answer to an unknown path, with the codes that may have been intended.

use std::borrow::Cow;

use askama::Template;
use hyper::{Response, StatusCode};
use serde::Serialize;

use crate::mapping::{Site, Timestamp};

use super::context::{PageContext, negotiated};
use crate::server::http::{Content, PageFormat, TEXT, readable, response};

/// How many codes are suggested for an unknown one.
const SUGGESTIONS: usize = 5;

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

impl PageContext<'_> {
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

    #[test]
    fn a_path_is_what_follows_the_authority() {
        assert_eq!(path_of("https://short.code/a/b"), "/a/b");
        assert_eq!(path_of("https://short.code:8443/go/a"), "/go/a");
        assert_eq!(path_of("https://short.code"), "");
    }
}
