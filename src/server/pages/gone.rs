//! The page of a retired or expired link.

use std::borrow::Cow;

use askama::Template;
use hyper::{Response, StatusCode};
use serde::Serialize;

use crate::html::{Frame, Moment, Sentence};
use crate::mapping::{Entry, Timestamp};

use super::context::{FormAction, PageContext};
use crate::server::http::Content;

#[derive(Template, Serialize)]
#[template(path = "gone.html")]
struct GonePage<'p> {
    #[serde(skip)]
    frame: Frame<'p>,
    error: &'static str,
    code: Cow<'p, str>,
    short_url: String,
    title: Option<&'p str>,
    owner: Option<&'p str>,
    archive: Option<&'p str>,
    since: Option<String>,
    #[serde(skip)]
    end: Sentence,
    revision: &'p str,
}

impl PageContext<'_> {
    /// Returns the page of a retired or expired entry.
    pub(crate) fn gone(&self, entry: Entry<'_>) -> Response<Content> {
        let frame = self.frame(Some(entry.site()));
        // An entry retired with `true` has no date of retirement.
        let since = entry.gone_from().filter(|time| *time > Timestamp::MIN);
        let page = GonePage {
            error: "gone",
            code: entry.code(),
            short_url: entry.short_url(),
            title: entry.title(),
            owner: entry.owner(),
            archive: entry.archive(),
            since: since.map(|time| time.to_string()),
            end: end(&frame, entry, since),
            revision: self.revision,
            frame,
        };
        self.render(StatusCode::GONE, FormAction::None, &page)
    }
}

/// Returns when a link was retired, or until when it was valid.
fn end(frame: &Frame<'_>, entry: Entry<'_>, since: Option<Timestamp>) -> Sentence {
    let sentence = match since {
        None => frame.sentence("gone-link"),
        Some(time) if entry.expires() == Some(time) => match Moment::last_before(time) {
            day if day.is_day() => frame.sentence("gone-link-expired").time("day", day),
            time => frame.sentence("gone-link-expired-time").time("time", time),
        },
        Some(time) => match Moment::first_from(time) {
            day if day.is_day() => frame.sentence("gone-link-since").time("day", day),
            time => frame.sentence("gone-link-since-time").time("time", time),
        },
    };
    sentence.code("link", entry.short_url())
}
