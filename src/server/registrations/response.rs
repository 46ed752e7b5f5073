//! Answers: a link, or a problem in the form of RFC 9457.
//!
//! Invariant: every answer is in [`ProblemType::ALL`] or in the structures here, as the OpenAPI
//! document states. Nothing in an answer is internal.

use bytes::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONNECTION, ETAG, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use hyper::{Response, StatusCode};
use serde::Serialize;

use crate::registry::Holder;

use super::preconditions::entity_tag;
use super::problem_type::ProblemType;
use crate::server::fleet::RegisteredLink;
use crate::server::http::{Content, JSON, response};
use crate::server::links::LinkView;

/// The media type of problems (RFC 9457 section 6).
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

/// The maximum length of a reported text about an invalid request, which may quote the request.
const MAX_DETAIL: usize = 300;

/// The maximum number of reported errors in a request.
const MAX_FINDINGS: usize = 30;

/// An answer, which may be sent again.
#[derive(Debug, Clone)]
pub(super) struct ApiResponse {
    pub(super) status: StatusCode,
    /// `None` if it is not a problem.
    pub(super) kind: Option<ProblemType>,
    media_type: HeaderValue,
    body: Bytes,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// The link that the request registered.
    pub(super) registered: Option<Box<RegisteredLink>>,
}

/// A problem.
#[derive(Debug, Serialize)]
pub(super) struct ProblemDetails {
    r#type: String,
    title: &'static str,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The conflicting link.
    #[serde(skip_serializing_if = "Option::is_none")]
    existing: Option<Existing>,
    /// The errors in the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<RequestError>,
    #[serde(skip)]
    kind: ProblemType,
}

/// A conflicting link.
#[derive(Debug, Serialize)]
struct Existing {
    short_url: String,
    code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    gone: bool,
}

/// An error in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct RequestError {
    /// Its place in the body: a JSON pointer (RFC 6901), empty for the whole body.
    pub(super) pointer: String,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}

impl ProblemDetails {
    pub(super) fn of(kind: ProblemType) -> Self {
        Self {
            r#type: kind.uri(),
            title: kind.title(),
            status: kind.status().as_u16(),
            detail: None,
            existing: None,
            errors: Vec::new(),
            kind,
        }
    }

    /// Reports a conflicting entry.
    pub(super) fn with_holder(kind: ProblemType, detail: Option<String>, holder: Holder) -> Self {
        Self {
            detail,
            existing: Some(Existing {
                short_url: holder.short_url,
                code: holder.code,
                url: holder.target,
                gone: holder.is_gone,
            }),
            ..Self::of(kind)
        }
    }

    /// Reports the errors in a request, in at most some kilobytes.
    pub(super) fn invalid(detail: Option<String>, errors: Vec<RequestError>) -> Self {
        let errors = errors
            .into_iter()
            .take(MAX_FINDINGS)
            .map(|it| RequestError {
                pointer: cut(it.pointer),
                message: cut(it.message),
                hint: it.hint.map(cut),
            });
        Self {
            detail: detail.map(cut),
            errors: errors.collect(),
            ..Self::of(ProblemType::Invalid)
        }
    }
}

/// Returns a text, cut if it is too long.
fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_DETAIL) {
        text.truncate(end);
        text.push('…');
    }
    text
}

impl ProblemType {
    /// Returns an answer with no further details.
    pub(super) fn answer(self) -> ApiResponse {
        ProblemDetails::of(self).into()
    }
}

impl From<ProblemDetails> for ApiResponse {
    fn from(problem: ProblemDetails) -> Self {
        let kind = problem.kind;
        let mut answer = Self::of(kind.status(), PROBLEM, &problem);
        answer.kind = Some(kind);
        if let Some(seconds) = kind.retry_after() {
            answer.add(RETRY_AFTER, HeaderValue::from_static(seconds));
        }
        match kind {
            ProblemType::Unauthorized => {
                answer.add(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            // The unread rest of a body must not be taken for the next request.
            ProblemType::TooLarge | ProblemType::TooSlow | ProblemType::Malformed => {
                answer.add(CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        answer
    }
}

impl ApiResponse {
    /// Answers with a link, and the tag by which it can be edited.
    pub(super) fn link(status: StatusCode, link: &LinkView) -> Self {
        let mut answer = Self::of(status, JSON, link);
        answer.add(ETAG, entity_tag(link.tag()));
        if status == StatusCode::CREATED
            && let Ok(location) = HeaderValue::try_from(link.short_url())
        {
            answer.add(LOCATION, location);
        }
        answer
    }

    /// Answers with a JSON document.
    pub(super) fn document(value: &impl Serialize) -> Self {
        Self::of(StatusCode::OK, JSON, value)
    }

    fn of(status: StatusCode, media_type: HeaderValue, value: &impl Serialize) -> Self {
        let mut text = serde_json::to_vec(value).expect("our own structures have string keys only");
        text.push(b'\n');
        Self {
            status,
            kind: None,
            media_type,
            body: text.into(),
            headers: Vec::new(),
            registered: None,
        }
    }

    pub(super) fn add(&mut self, name: HeaderName, value: HeaderValue) {
        self.headers.push((name, value));
    }

    /// Returns its size in memory, in bytes, without the fixed part of every answer.
    pub(super) fn bytes(&self) -> usize {
        let headers = self.headers.iter().map(|(_, value)| value.len());
        self.body.len() + headers.sum::<usize>()
    }

    /// Returns whether the same request would get the same answer again, so that it is worth
    /// keeping.
    pub(super) fn is_final(&self) -> bool {
        let (status, passing) = (self.status, StatusCode::TOO_MANY_REQUESTS);
        !status.is_server_error() && status != passing
    }

    pub(super) fn into_response(self) -> Response<Content> {
        let mut response = response::body(self.status, self.media_type, self.body);
        let no_store = HeaderValue::from_static("no-store");
        response.headers_mut().insert(CACHE_CONTROL, no_store);
        response.headers_mut().extend(self.headers);
        response
    }
}
