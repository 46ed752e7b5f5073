//! Proposals that are sent with a token: posts of the form at `/-/propose`.
//!
//! Only a page of this server may send them. The token is in the content of the request alone, and
//! nowhere afterwards.

use std::time::SystemTime;

use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};

use crate::mapping::Timestamp;

use super::own_path::OwnPath;
use super::route;
use crate::server::http::{
    Answered, Content, Counts, Unread, bad_request, body, misdirected, request as head, response,
    unavailable,
};
use crate::server::pages::{PostedProposal, ProposalSource};
use crate::server::registrations::{NotSent, Service};
use crate::server::state::{RegistrationResult, Shared};

/// The media type of a form.
const FORM: &str = "application/x-www-form-urlencoded";

/// Returns whether a request may send a proposal; [`answer`] answers it in any case.
pub(super) fn may_be_addressed<B>(request: &Request<B>) -> bool {
    *request.method() == Method::POST && request.uri().path().ends_with("/-/propose")
}

/// Answers a request and counts it.
pub(super) async fn answer(
    service: &Service,
    shared: &Shared,
    counts: &Counts,
    request: Request<Incoming>,
) -> Response<Content> {
    let (parts, content) = request.into_parts();
    let request = Request::from_parts(parts, ());
    let Some(response) = send(service, shared, &request, content).await else {
        return route::answer(shared, counts, &request, true);
    };
    // Without a duration, which would be the remote's and not a redirect's.
    counts.count(match response.status() {
        StatusCode::MISDIRECTED_REQUEST => Answered::Misdirected,
        status if status.is_client_error() => Answered::BadRequest,
        _ => Answered::Page,
    });
    response
}

/// Sends a proposal; `None` if the request is for something else.
async fn send(
    service: &Service,
    shared: &Shared,
    request: &Request<()>,
    content: Incoming,
) -> Option<Response<Content>> {
    let Ok(asked) = head::read(request) else {
        return Some(bad_request());
    };
    let refused = |refusal| {
        // The unread rest of the content must not be taken for the next request.
        let refusal = route::explained(shared, request, refusal);
        Some(response::with(refusal, CONNECTION, "close"))
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
        Err(unread) => {
            return refused(response::line(match unread {
                Unread::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
                Unread::TooSlow => StatusCode::REQUEST_TIMEOUT,
                Unread::Broken => StatusCode::BAD_REQUEST,
            }));
        }
    };
    let source = ProposalSource {
        snapshot: &live,
        site,
        takes_tokens: true,
    };
    let now = Timestamp::from(SystemTime::now());
    let page = route::context(shared, request, Some(&live), now);
    let wanted = match page.posted(&source, &posted) {
        Ok(wanted) => wanted,
        Err(refusal) => {
            shared.metrics.registered(RegistrationResult::Refused);
            return Some(*refusal);
        }
    };
    let sent = service.send_for_review(posted.token(), wanted).await;
    shared.metrics.registered(match &sent {
        Ok(_) => RegistrationResult::Proposed,
        Err(NotSent::Unauthorized) => RegistrationResult::Unauthorized,
        Err(NotSent::Refused(_) | NotSent::Private) => RegistrationResult::Refused,
        Err(NotSent::TooMany) => RegistrationResult::Limited,
        Err(NotSent::ByRemote | NotSent::Unavailable) => RegistrationResult::Failed,
    });
    let may_be_repeated = matches!(&sent, Err(NotSent::TooMany | NotSent::Unavailable));
    let answer = page.sent(&source, &posted, sent);
    Some(match may_be_repeated {
        true => response::with(answer, RETRY_AFTER, "5"),
        false => answer,
    })
}

fn is_form(request: &Request<()>) -> bool {
    let value = request.headers().get(CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok());
    value.is_some_and(|value| {
        let essence = value.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case(FORM)
    })
}
