//! The page that lists links, with a form to search them.

use std::borrow::Cow;

use askama::Template;
use hyper::{Response, StatusCode};

use crate::html::{Frame, Sentence, ShownUrl};
use crate::mapping::{Entry, LinkState, Timestamp};

use super::context::{FormAction, PageContext, negotiated};
use super::path_of::path_of;
use crate::server::http::{Content, PageFormat};
use crate::server::links::{self, JSON_VARIANT, ListQuery, MAX_TEXT, Selection};

/// The maximum number of shown characters of a text; the page of the link has all.
const SHOWN: usize = 60;

/// How many aliases and tags of a link are shown; the page of the link has all.
const SHOWN_TEXTS: usize = 4;

#[derive(Template)]
#[template(path = "links.html")]
struct LinksPage<'p> {
    frame: Frame<'p>,
    /// The path of this page.
    path: String,
    query: &'p ListQuery,
    max_text: usize,
    states: Vec<StateChoice>,
    /// The number of links, if it is known without checking all of them.
    count: Option<Sentence>,
    rows: Vec<ListedLink<'p>>,
    /// The query of the page with the first links, unless it is this one.
    first: Option<String>,
    /// The query of the next page.
    next: Option<String>,
}

/// A state that can be selected.
struct StateChoice {
    name: &'static str,
    text: &'static str,
    is_chosen: bool,
}

/// A link of the list.
struct ListedLink<'p> {
    code: Cow<'p, str>,
    /// The path of its own page.
    path: String,
    title: Option<String>,
    /// Its target, with its end cut off if it is long, but never a part of its host.
    target: Option<String>,
    aliases: Vec<&'p str>,
    owner: Option<String>,
    /// Its tags, and the query that lists all links with each.
    tags: Vec<(String, String)>,
    /// Its state, unless it is live.
    state: Option<&'static str>,
}

impl PageContext<'_> {
    /// Returns the variant of a list of the same links: the form, and the language of pages.
    pub(crate) fn list_variant(&self) -> &'static str {
        match self.form {
            PageFormat::Json => JSON_VARIANT,
            PageFormat::Html | PageFormat::Any => self.language.tag(),
        }
    }

    /// Returns the page that lists the selected links.
    pub(crate) fn links(&self, selection: &Selection<'_>) -> Response<Content> {
        if self.form == PageFormat::Json {
            return negotiated(links::json(selection));
        }
        let frame = self.frame(Some(selection.site));
        let (query, site) = (selection.query, selection.site);
        let rows = selection.entries.iter();
        let page = LinksPage {
            path: format!("{}-/links", site.base_url().path()),
            query,
            max_text: MAX_TEXT,
            states: states(&frame, query.state),
            count: count(&frame, selection),
            rows: rows
                .map(|it| ListedLink::of(*it, &frame, self.now))
                .collect(),
            first: (!query.after.is_empty()).then(|| query.to_query_after("")),
            next: (selection.next.as_deref()).map(|next| query.to_query_after(next)),
            frame,
        };
        self.html(StatusCode::OK, FormAction::Own, &page)
    }
}

fn states(frame: &Frame<'_>, chosen: Option<LinkState>) -> Vec<StateChoice> {
    let choice = |state: LinkState| StateChoice {
        name: state.name(),
        text: state_text(frame, state),
        is_chosen: chosen == Some(state),
    };
    LinkState::ALL.map(choice).into()
}

fn state_text(frame: &Frame<'_>, state: LinkState) -> &'static str {
    frame.text(match state {
        LinkState::Live => "state-live",
        LinkState::Retired => "state-retired",
        LinkState::Expired => "state-expired",
    })
}

/// Returns how many links there are: of the site, or found, if all of them are on this page.
fn count(frame: &Frame<'_>, selection: &Selection<'_>) -> Option<Sentence> {
    if selection.entries.is_empty() {
        // The page already says this.
        return None;
    }
    if selection.query.is_of_all() {
        let all = selection.site.len();
        return Some(frame.counted("list-all-one", "list-all-other", all));
    }
    let is_whole = selection.query.after.is_empty() && selection.next.is_none();
    let found = selection.entries.len();
    is_whole.then(|| frame.counted("list-found-one", "list-found-other", found))
}

impl<'p> ListedLink<'p> {
    fn of(entry: Entry<'p>, frame: &Frame<'_>, now: Timestamp) -> Self {
        let tag = |tag: &str| {
            let query = ListQuery::of_tag(tag);
            (cut(tag), query.to_query())
        };
        let state = LinkState::of(entry, now);
        Self {
            path: format!("{}+", path_of(&entry.short_url())),
            title: entry.title().map(cut),
            target: entry.target().map(|target| cut_url(&target)),
            aliases: entry.aliases().take(SHOWN_TEXTS).collect(),
            owner: entry.owner().map(cut),
            tags: entry.tags().take(SHOWN_TEXTS).map(tag).collect(),
            state: (state != LinkState::Live).then(|| state_text(frame, state)),
            code: entry.code(),
        }
    }
}

impl ListedLink<'_> {
    /// Returns whether there is more of it than code, title and target.
    fn has_details(&self) -> bool {
        let texts = self.aliases.len() + self.tags.len();
        texts > 0 || self.owner.is_some() || self.state.is_some()
    }
}

/// Returns a text, cut if it is long.
fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns a URL, cut if it is long, but only after its host: a part of a host is another host.
fn cut_url(url: &str) -> String {
    let host_end = url.len() - ShownUrl::of(url).after.len();
    match url.char_indices().nth(SHOWN) {
        // What follows the host begins with an ASCII character.
        Some((end, _)) if host_end + 1 < url.len() => format!("{}…", &url[..end.max(host_end + 1)]),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_keeps_its_host() {
        let host = format!("bank.example.{}.evil.example", "a".repeat(60));
        let (path, short) = ("b".repeat(80), "https://e.example/");
        for (url, expected) in [
            (format!("{short}{path}"), format!("{short}{}…", &path[..42])),
            (
                format!("https://{host}/{path}"),
                format!("https://{host}/…"),
            ),
            (format!("https://{host}/"), format!("https://{host}/")),
            (short.to_owned(), short.to_owned()),
        ] {
            assert_eq!(cut_url(&url), expected);
        }
    }
}
