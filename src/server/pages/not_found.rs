//! The answer to an unknown path, with the codes that may have been intended.

use std::borrow::Cow;

use askama::Template;
use hyper::{Response, StatusCode};
use serde::Serialize;

use crate::html::{Frame, ShownUrl};
use crate::mapping::{Site, Timestamp};

use super::context::{FormAction, PageContext, negotiated};
use super::path_of::path_of;
use crate::server::http::{Content, PageFormat, TEXT, readable, response};

/// How many codes are suggested for an unknown one.
const SUGGESTIONS: usize = 5;

#[derive(Template, Serialize)]
#[template(path = "not_found.html")]
struct NotFound<'p> {
    #[serde(skip)]
    frame: Frame<'p>,
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
    /// Where it leads.
    #[serde(skip)]
    host: Option<String>,
}

impl PageContext<'_> {
    /// Returns the answer to an unknown path: for a person, with the nearest codes of the site.
    pub(crate) fn not_found(&self, site: &Site, path: &str) -> Response<Content> {
        let suggestions = match self.form {
            // Codes and targets are part of the table.
            _ if !self.is_public => Vec::new(),
            PageFormat::Html | PageFormat::Json => suggestions(site, path, self.now),
            PageFormat::Any => Vec::new(),
        };
        self.nothing_found(Some(site), path, suggestions)
    }

    /// Returns the answer to an unknown path that no code can have.
    pub(crate) fn no_such_page(&self, site: Option<&Site>, path: &str) -> Response<Content> {
        self.nothing_found(site, path, Vec::new())
    }

    fn nothing_found(
        &self,
        site: Option<&Site>,
        path: &str,
        suggestions: Vec<Suggestion<'_>>,
    ) -> Response<Content> {
        let page = NotFound {
            frame: self.frame(site),
            error: "not found",
            asked: readable(path),
            suggestions,
            revision: self.revision,
        };
        if self.form == PageFormat::Any {
            let response = response::body(StatusCode::NOT_FOUND, TEXT, "no such short link\n");
            return negotiated(response);
        }
        self.render(StatusCode::NOT_FOUND, FormAction::None, &page)
    }
}

fn suggestions<'p>(site: &'p Site, path: &str, now: Timestamp) -> Vec<Suggestion<'p>> {
    let suggest = |code: Cow<'p, str>| {
        let short_url = site.short_url(&code);
        Suggestion {
            path: path_of(&short_url).to_owned(),
            host: target_host(site, &code),
            code,
            short_url,
        }
    };
    let codes = site.suggestions(path, SUGGESTIONS, now);
    codes.into_iter().map(suggest).collect()
}

/// Returns the host that a code leads to.
fn target_host(site: &Site, code: &str) -> Option<String> {
    let target = site.lookup(code)?.target()?;
    Some(ShownUrl::of(&target).name().to_owned())
}
