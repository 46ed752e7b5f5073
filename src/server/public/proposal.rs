//! The form at `/-/propose`, and the proposals that it posts with a token.
//!
//! Only a page of this server may send them. The token is only in the content of the request, and
//! is not stored.

use std::time::SystemTime;

use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};

use crate::mapping::Timestamp;

use super::own_path::OwnPath;
use super::route;
use crate::server::http::{
    Answered, Content, CountedResponse, RequestCounts, Unread, bad_request, body, misdirected,
    not_allowed, only_read, request as head, response, unavailable,
};
use crate::server::pages::{PageContext, PostedProposal, ProposalSource};
use crate::server::registrations::{NotSent, Service};
use crate::server::state::{RegistrationResult, Shared};

/// The media type of a form.
const FORM: &str = "application/x-www-form-urlencoded";

/// Returns whether a request may be for the form; [`answer`] answers it in any case.
pub(super) fn may_be_addressed<B>(request: &Request<B>) -> bool {
    request.uri().path().ends_with("/-/propose")
}

/// Answers a request and counts it; proposals can be sent if there is a service for them.
pub(super) async fn answer(
    service: Option<&Service>,
    shared: &Shared,
    counts: &RequestCounts,
    request: Request<Incoming>,
) -> Response<Content> {
    let (parts, content) = request.into_parts();
    let request = Request::from_parts(parts, ());
    let answer = match service {
        Some(service) if *request.method() == Method::POST => {
            send(service, shared, &request, content).await
        }
        _ => show(service, shared, &request),
    };
    match answer {
        None => route::answer(shared, counts, &request),
        Some(answer) => route::counted(shared, counts, &request, answer),
    }
}

/// Returns the form, with the result of the proposal in its query; `None` if the request is for
/// something else, or of a kind that is answered the same way everywhere.
fn show(
    service: Option<&Service>,
    shared: &Shared,
    request: &Request<()>,
) -> Option<CountedResponse> {
    let asked = head::read(request).ok()?;
    let live = shared.live.load_full()?;
    let own = OwnPath::read(&live.table, &asked)?;
    if own.rest != "propose" {
        return None;
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    Some(match own.site {
        _ if !reads && service.is_some() => {
            let response = not_allowed("GET, HEAD, POST");
            (Some(Answered::MethodNotAllowed), response)
        }
        _ if !reads => only_read(),
        None => misdirected(),
        Some(site) => {
            let source = ProposalSource {
                snapshot: &live,
                site,
                takes_tokens: service.is_some(),
            };
            let now = Timestamp::from(SystemTime::now());
            let page = route::context(shared, request.headers(), Some(&live), now);
            (Some(Answered::Page), page.propose(&source, asked.query))
        }
    })
}

/// Sends a proposal; `None` if the request is for something else.
async fn send(
    service: &Service,
    shared: &Shared,
    request: &Request<()>,
    content: Incoming,
) -> Option<CountedResponse> {
    let refused = |refusal: Response<Content>| {
        let answered = match refusal.status() {
            StatusCode::MISDIRECTED_REQUEST => Answered::Misdirected,
            status if status.is_client_error() => Answered::BadRequest,
            _ => Answered::Page,
        };
        // The unread rest of the content must not be taken for the next request.
        let refusal = response::with(refusal, CONNECTION, "close");
        Some((Some(answered), refusal))
    };
    let Ok(asked) = head::read(request) else {
        return refused(bad_request());
    };
    let Some(live) = shared.live.load_full() else {
        return refused(unavailable());
    };
    let own = OwnPath::read(&live.table, &asked)?;
    if own.rest != "propose" {
        return None;
    }
    let Some(site) = own.site else {
        return refused(misdirected().1);
    };
    if !head::is_from_own_page(request) {
        return refused(response::line(StatusCode::FORBIDDEN));
    }
    if !is_form(request) {
        return refused(response::line(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    if shared.lifecycle.is_draining() {
        return refused(unavailable());
    }
    let posted = match body::content(content).await {
        Ok(content) => PostedProposal::read(&content),
        Err(unread) => return refused(response::line(status_of(unread))),
    };
    let source = ProposalSource {
        snapshot: &live,
        site,
        takes_tokens: true,
    };
    let now = Timestamp::from(SystemTime::now());
    let page = route::context(shared, request.headers(), Some(&live), now);
    let answer = review(service, shared, &page, &source, &posted).await;
    let answered = match answer.status().is_client_error() {
        true => Answered::BadRequest,
        false => Answered::Page,
    };
    Some((Some(answered), answer))
}

/// Sends a proposal that was posted for review, and returns the page that says what became of it.
async fn review(
    service: &Service,
    shared: &Shared,
    page: &PageContext<'_>,
    source: &ProposalSource<'_>,
    posted: &PostedProposal,
) -> Response<Content> {
    match page.posted(source, posted) {
        Err(refusal) => {
            shared.metrics.registered(RegistrationResult::Refused);
            *refusal
        }
        Ok(request) => {
            let sent = service
                .send_for_review(shared, posted.token(), request)
                .await;
            let result = sent
                .as_ref()
                .err()
                .map_or(RegistrationResult::Proposed, result_of);
            shared.metrics.registered(result);
            let may_be_repeated = matches!(&sent, Err(NotSent::TooMany | NotSent::Unavailable));
            let answer = page.sent(source, posted, sent);
            match may_be_repeated {
                true => response::with(answer, RETRY_AFTER, "5"),
                false => answer,
            }
        }
    }
}

/// Returns the status of a request whose content was not read.
fn status_of(unread: Unread) -> StatusCode {
    match unread {
        Unread::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Unread::TooSlow => StatusCode::REQUEST_TIMEOUT,
        Unread::Broken => StatusCode::BAD_REQUEST,
    }
}

/// Returns how a proposal that was not sent is counted.
fn result_of(not_sent: &NotSent) -> RegistrationResult {
    match not_sent {
        NotSent::Unauthorized => RegistrationResult::Unauthorized,
        NotSent::Refused(_) | NotSent::Private => RegistrationResult::Refused,
        NotSent::TooMany => RegistrationResult::Limited,
        NotSent::ByRemote | NotSent::Unavailable => RegistrationResult::Failed,
    }
}

fn is_form(request: &Request<()>) -> bool {
    let value = request.headers().get(CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok());
    value.is_some_and(|value| {
        let essence = value.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case(FORM)
    })
}
