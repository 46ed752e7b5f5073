//! The parts of answers with content.
//!
//! Every answer states its length itself: hyper would leave `Content-Length: 0` out of the answer
//! to HEAD, which must equal GET's. [`for_method`] turns one into the other at the very end.

use bytes::Bytes;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue,
    RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Response, StatusCode};
use serde::Serialize;

use super::content::Content;
use super::counts::Answered;

pub(crate) const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Returns an answer with a body whose type the client must not guess.
pub(crate) fn body(
    status: StatusCode,
    media_type: HeaderValue,
    bytes: impl Into<Bytes>,
) -> Response<Content> {
    let bytes = bytes.into();
    let length = HeaderValue::from(bytes.len());
    let mut response = Response::new(Content::from(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media_type);
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert(X_CONTENT_TYPE_OPTIONS, nosniff);
    headers.insert(CONTENT_LENGTH, length);
    response
}

/// Returns an answer with its status as one line of text.
pub(crate) fn line(status: StatusCode) -> Response<Content> {
    let reason = status.canonical_reason().unwrap_or("Error");
    body(status, TEXT, format!("{} {reason}\n", status.as_str()))
}

/// Returns an answer in JSON.
pub(crate) fn json(
    status: StatusCode,
    media_type: HeaderValue,
    value: &impl Serialize,
) -> Response<Content> {
    let mut text = serde_json::to_vec(value).expect("our own structures have string keys only");
    text.push(b'\n');
    body(status, media_type, text)
}

/// Adds a header to an answer.
pub(crate) fn with(
    mut response: Response<Content>,
    name: HeaderName,
    value: &'static str,
) -> Response<Content> {
    let value = HeaderValue::from_static(value);
    response.headers_mut().insert(name, value);
    response
}

/// Removes the body from an answer to HEAD; the headers stay GET's.
pub(crate) fn for_method(method: &Method, mut response: Response<Content>) -> Response<Content> {
    if *method == Method::HEAD {
        *response.body_mut() = Content::default();
    }
    response
}

/// The methods that only read.
pub(crate) const READING: &str = "GET, HEAD";

/// Returns the answer to a method that is not one of the allowed ones.
pub(crate) fn not_allowed(allowed: &'static str) -> Response<Content> {
    with(line(StatusCode::METHOD_NOT_ALLOWED), ALLOW, allowed)
}

/// An answer of a public listener, and how it is counted; before the first table, none is.
pub(crate) type CountedResponse = (Option<Answered>, Response<Content>);

/// Returns the answer of a public listener to a request that is not for reading, and how it is
/// counted.
pub(crate) fn only_read() -> CountedResponse {
    (Some(Answered::MethodNotAllowed), not_allowed(READING))
}

/// Returns the answer of a public listener to a request under a host that has no site, and how it is
/// counted.
pub(crate) fn misdirected() -> CountedResponse {
    let response = line(StatusCode::MISDIRECTED_REQUEST);
    (Some(Answered::Misdirected), response)
}

/// Returns an answer that closes the connection: the following bytes are not trusted to be the next
/// request.
pub(crate) fn bad_request() -> Response<Content> {
    let response = line(StatusCode::BAD_REQUEST);
    with(response, CONNECTION, "close")
}

/// Returns the answer of a server that has no table yet, or cannot read the requested data now.
pub(crate) fn unavailable() -> Response<Content> {
    let response = line(StatusCode::SERVICE_UNAVAILABLE);
    let response = with(response, CACHE_CONTROL, "no-store");
    with(response, RETRY_AFTER, "5")
}
