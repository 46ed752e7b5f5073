//! The page of a link: where it leads, and the facts about it.

use std::borrow::Cow;

use askama::Template;
use hyper::{Response, StatusCode};
use serde::Serialize;

use crate::html::{Frame, Moment, Sentence, in_query};
use crate::linkcheck::LinkSummary;
use crate::mapping::{Entry, Forward, Timestamp, Variant};

use super::check_sentence::check_sentence;
use super::context::{FormAction, PageContext};
use super::entry_source::EntrySource;
use super::path_of::path_of;
use crate::server::http::Content;
use crate::server::state::Snapshot;

#[derive(Template, Serialize)]
#[template(path = "preview.html")]
struct Preview<'p> {
    #[serde(skip)]
    frame: Frame<'p>,
    code: Cow<'p, str>,
    short_url: String,
    /// Its other codes, if anyone may know them.
    aliases: Vec<&'p str>,
    target: Option<Cow<'p, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variants: Vec<Variant<'p>>,
    status: u16,
    forward: &'static str,
    #[serde(skip)]
    forwards: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    below: Option<&'p str>,
    title: Option<&'p str>,
    owner: Option<&'p str>,
    tags: Vec<&'p str>,
    archive: Option<&'p str>,
    valid_until: Option<String>,
    #[serde(skip)]
    validity: Sentence,
    #[serde(skip_serializing_if = "Option::is_none")]
    link_check: Option<LinkSummary>,
    #[serde(skip)]
    check: Option<Sentence>,
    /// Where it is in the repository.
    #[serde(skip)]
    source: Option<EntrySource>,
    /// Its aliases, and their paths on the host that the client used.
    #[serde(skip)]
    other_links: Vec<(&'p str, String)>,
    /// The path of its QR code.
    #[serde(skip)]
    qr: String,
    /// The address for reports about it.
    #[serde(skip)]
    report: Option<String>,
    revision: &'p str,
}

impl PageContext<'_> {
    /// Returns the page that shows the target of a link, and the result of its check if links are
    /// checked.
    pub(crate) fn preview(
        &self,
        entry: Entry<'_>,
        link_check: Option<LinkSummary>,
        snapshot: &Snapshot,
    ) -> Response<Content> {
        let frame = self.frame(Some(entry.site()));
        let aliases: Vec<_> = match self.is_public {
            true => entry.aliases().collect(),
            false => Vec::new(),
        };
        let page = Preview {
            code: entry.code(),
            short_url: entry.short_url(),
            other_links: other_links(entry, &aliases),
            aliases,
            target: entry.target(),
            variants: entry.variants().collect(),
            status: entry.status().code(),
            forward: entry.forward().name(),
            forwards: forwards(&frame, entry.own_forward()),
            below: entry.below(),
            title: entry.title(),
            owner: entry.owner(),
            tags: entry.tags().collect(),
            archive: entry.archive(),
            link_check,
            check: link_check.and_then(|summary| check_sentence(&frame, summary)),
            valid_until: entry.gone_from().map(|time| time.to_string()),
            validity: validity(&frame, entry.gone_from()),
            source: EntrySource::of(&frame, entry, snapshot),
            qr: qr_path(entry),
            report: frame.contact.map(|contact| report(&frame, contact, entry)),
            revision: self.revision,
            frame,
        };
        self.render(StatusCode::OK, FormAction::None, &page)
    }
}

/// Returns the sentence about the forwarded parts of a request.
fn forwards(frame: &Frame<'_>, forward: Forward) -> Option<&'static str> {
    match forward {
        Forward::None => None,
        Forward::Query => Some(frame.text("forwards-query")),
        Forward::Path => Some(frame.text("forwards-path")),
        Forward::PathAndQuery => Some(frame.text("forwards-path-and-query")),
        Forward::All => Some(frame.text("forwards-all")),
        Forward::AllAndQuery => Some(frame.text("forwards-all-and-query")),
    }
}

/// Returns how long a link is valid, in words.
fn validity(frame: &Frame<'_>, end: Option<Timestamp>) -> Sentence {
    match end.map(Moment::last_before) {
        None => frame.sentence("valid-always"),
        Some(day) if day.is_day() => frame.sentence("valid-through").time("day", day),
        Some(time) => frame.sentence("valid-until").time("time", time),
    }
}

/// Returns aliases of an entry with their paths.
fn other_links<'p>(entry: Entry<'_>, aliases: &[&'p str]) -> Vec<(&'p str, String)> {
    let path = |alias: &str| path_of(&entry.site().short_url(alias)).to_owned();
    let with_path = |alias: &&'p str| (*alias, path(alias));
    aliases.iter().map(with_path).collect()
}

/// Returns the path of the QR code of a link.
fn qr_path(entry: Entry<'_>) -> String {
    let (short_url, base_url) = (entry.short_url(), entry.site().base_url());
    let code = short_url.strip_prefix(base_url.as_str());
    let code = code.unwrap_or_default();
    format!("{}-/qr/{code}.svg", base_url.path())
}

/// Returns the address for reports about a link: for a mail, with its subject.
fn report(frame: &Frame<'_>, contact: &str, entry: Entry<'_>) -> String {
    if !contact.starts_with("mailto:") {
        return contact.to_owned();
    }
    let subject = frame.plain("report-subject", "link", &entry.short_url());
    format!("{contact}?subject={}", in_query(&subject))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use hyper::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY};
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::html::Language;
    use crate::server::http::PageFormat;

    const HOSTILE: &str = "\"'><script>alert(1)</script>&";

    fn hostile_preview(form: PageFormat, forms: FormAction) -> Response<Content> {
        let context = PageContext {
            form,
            language: Language::DEFAULT,
            now: Timestamp::from_unix(0),
            revision: HOSTILE,
            is_public: true,
        };
        let frame = Frame {
            name: HOSTILE,
            home: Some(HOSTILE.to_owned()),
            list: Some(HOSTILE.to_owned()),
            propose: Some(HOSTILE.to_owned()),
            repository: Some(HOSTILE),
            contact: Some(HOSTILE),
            ..context.frame(None)
        };
        let preview = Preview {
            code: HOSTILE.into(),
            short_url: HOSTILE.to_owned(),
            aliases: vec![HOSTILE, HOSTILE],
            target: Some(HOSTILE.into()),
            variants: Vec::new(),
            status: 302,
            forward: "none",
            forwards: None,
            below: Some(HOSTILE),
            title: Some(HOSTILE),
            owner: Some(HOSTILE),
            tags: vec![HOSTILE, HOSTILE],
            archive: Some(HOSTILE),
            valid_until: None,
            link_check: None,
            check: None,
            validity: validity(&frame, None),
            source: Some(EntrySource {
                words: frame.sentence("in-repository-line").code("file", HOSTILE),
                address: Some(HOSTILE.to_owned()),
                editor: HOSTILE.to_owned(),
            }),
            other_links: vec![(HOSTILE, HOSTILE.to_owned())],
            qr: HOSTILE.to_owned(),
            report: Some(HOSTILE.to_owned()),
            revision: HOSTILE,
            frame,
        };
        context.render(StatusCode::OK, forms, &preview)
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
        let page = text(hostile_preview(PageFormat::Html, FormAction::None));
        assert!(!page.contains("<script"));
        assert!(!page.contains(HOSTILE));
        assert!(
            page.contains("&#60;script&#62;alert(1)&#60;/script&#62;"),
            "{page}"
        );
    }

    #[test]
    fn the_policy_allows_the_style_that_is_sent() {
        let response = hostile_preview(PageFormat::Any, FormAction::None);
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
    fn forms_lead_nowhere_else() {
        for (forms, action, referrer) in [
            (FormAction::None, "form-action 'none';", "no-referrer"),
            (FormAction::Own, "form-action 'self';", "same-origin"),
        ] {
            let response = hostile_preview(PageFormat::Html, forms);
            let header = |name| response.headers()[name].to_str().unwrap();
            assert!(header(CONTENT_SECURITY_POLICY).contains(action));
            assert_eq!(header(REFERRER_POLICY), referrer);
        }
    }

    #[test]
    fn programs_get_json() {
        let response = hostile_preview(PageFormat::Json, FormAction::None);
        let value: serde_json::Value = serde_json::from_str(&text(response)).unwrap();
        assert_eq!(value["target"], HOSTILE);
        assert_eq!(value["status"], 302);
    }
}
