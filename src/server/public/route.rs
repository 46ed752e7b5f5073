//! Routes: from a public request to its answer.
//!
//! Fixed paths come first, before any site is chosen; then the table decides.

use std::time::{Instant, SystemTime};

use hyper::header::{CACHE_CONTROL, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use crate::mapping::{Outcome, ServerPage, SiteKey, Timestamp};

use super::own_path::OwnPath;
use super::{dump, go, redirect};
use crate::server::http::{
    Answered, Content, CountedResponse, Refused, RequestCounts, bad_request, form, language,
    misdirected, only_read, request, response, unavailable,
};
use crate::server::ops::health;
use crate::server::pages::{PageContext, is_refusal};
use crate::server::state::{Shared, Snapshot};

const ROBOTS: &str = "User-agent: *\nDisallow: /-/\n";
const FAVICON: &str = include_str!("../../../templates/favicon.svg");

/// Answers a public request and counts it.
pub(crate) fn answer<B>(
    shared: &Shared,
    counts: &RequestCounts,
    request: &Request<B>,
) -> Response<Content> {
    let began = Instant::now();
    let (answered, response) = decide(shared, request);
    let response = explained(shared, request, response);
    if let Some(answered) = answered {
        counts.answered(answered, began.elapsed());
    }
    response
}

/// Counts an answer that takes time, without its duration, because it is not a redirect.
pub(super) fn counted<B>(
    shared: &Shared,
    counts: &RequestCounts,
    request: &Request<B>,
    (answered, response): CountedResponse,
) -> Response<Content> {
    if let Some(answered) = answered {
        counts.count(answered);
    }
    explained(shared, request, response)
}

/// Returns an answer and how it is counted.
fn decide<B>(shared: &Shared, request: &Request<B>) -> CountedResponse {
    let asked = match request::read(request) {
        Ok(asked) => asked,
        Err(Refused::BadRequest) => return (Some(Answered::BadRequest), bad_request()),
        Err(Refused::Method) => return only_read(),
    };
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if let Some(page) = ServerPage::at(asked.path) {
        if !reads {
            return only_read();
        }
        let response = match page {
            ServerPage::Health => health::answer(shared),
            ServerPage::Robots => constant("text/plain; charset=utf-8", ROBOTS),
            ServerPage::Icon => constant("image/svg+xml", FAVICON),
        };
        return (Some(Answered::Page), response);
    }

    let live = shared.live.load();
    let Some(snapshot) = &*live else {
        return (None, unavailable());
    };
    let now = Timestamp::from(SystemTime::now());
    let page = || context(shared, request.headers(), Some(snapshot), now);
    if let Some(own) = OwnPath::read(&snapshot.table, &asked) {
        if let Some(slots) = &shared.dumps
            && let Some(answer) = dump::answer(slots, shared, snapshot, &own, request)
        {
            return answer;
        }
        // `/-/links`, `/-/propose` and `/-/qr/` are answered before.
        // With `home`, the base URL itself leads elsewhere.
        if let (Some(site), "") = (own.site, own.rest)
            && site.about().home().is_some()
        {
            if !reads {
                return only_read();
            }
            return (Some(Answered::Page), page().landing(site));
        }
        if shared.is_public() && matches!(own.rest, "go" | "opensearch.xml") {
            return match own.site {
                _ if !reads => only_read(),
                None => misdirected(),
                Some(site) if own.rest == "go" => {
                    go::answer(&snapshot.table, site, &page(), asked.query)
                }
                Some(site) => (Some(Answered::Page), page().opensearch(site)),
            };
        }
    }
    if asked.path.starts_with("/-/") {
        let site = snapshot.table.site_of(asked.host, asked.path);
        let response = page().no_such_page(site, asked.path);
        return (Some(Answered::NotFound), response);
    }
    let (answered, response) = match snapshot.table.resolve(&asked, now) {
        Outcome::Redirect(hit) if reads || hit.status.keeps_method() => redirect::answer(hit),
        Outcome::Preview(entry) if reads => {
            let checks = shared.link_checks.as_deref();
            let link_check = checks.and_then(|checks| checks.summary(entry));
            (
                Answered::Preview,
                page().preview(entry, link_check, snapshot),
            )
        }
        Outcome::Landing(site) if reads => (Answered::Page, page().landing(site)),
        Outcome::SiteRedirect(redirect) if reads => redirect::answer_site(redirect),
        Outcome::SiteRedirect(redirect) if redirect.key == SiteKey::Fallback => {
            let page = page().not_found(redirect.site, asked.path);
            (Answered::NotFound, page)
        }
        Outcome::Redirect(_)
        | Outcome::Preview(_)
        | Outcome::Landing(_)
        | Outcome::SiteRedirect(_) => return only_read(),
        Outcome::Gone(entry) => (Answered::Gone, page().gone(entry)),
        Outcome::NotFound(site) => (Answered::NotFound, page().not_found(site, asked.path)),
        Outcome::Misdirected => return misdirected(),
    };
    (Some(answered), response)
}

/// Returns the context of a page for a request, with the revision of a snapshot, if there is one.
pub(super) fn context<'s>(
    shared: &Shared,
    headers: &HeaderMap,
    snapshot: Option<&'s Snapshot>,
    now: Timestamp,
) -> PageContext<'s> {
    PageContext {
        form: form(headers),
        language: language(headers),
        now,
        revision: snapshot.map_or("", |snapshot| &snapshot.short),
        is_public: shared.is_public(),
    }
}

/// Returns a refusal in the form that the client prefers. Answers of `/healthz` have a form of
/// their own.
pub(super) fn explained<B>(
    shared: &Shared,
    request: &Request<B>,
    response: Response<Content>,
) -> Response<Content> {
    let (status, path) = (response.status(), request.uri().path());
    let is_of_probe = status == StatusCode::SERVICE_UNAVAILABLE
        && ServerPage::at(path) == Some(ServerPage::Health);
    if !is_refusal(status) || is_of_probe {
        return response;
    }
    let live = shared.live.load();
    let snapshot = live.as_deref();
    let now = Timestamp::from(SystemTime::now());
    let page = context(shared, request.headers(), snapshot, now);
    // An unreadable request is refused with the page of the only site, if there is just one.
    let asked = request::read(request).ok();
    let (host, path) = asked.map_or((None, "/"), |asked| (asked.host, asked.path));
    let site = snapshot.and_then(|snapshot| snapshot.table.site_of(host, path));
    page.explained(site, response)
}

fn constant(media_type: &'static str, text: &'static str) -> Response<Content> {
    let media_type = HeaderValue::from_static(media_type);
    let response = response::body(StatusCode::OK, media_type, text);
    response::with(response, CACHE_CONTROL, "public, max-age=86400")
}
