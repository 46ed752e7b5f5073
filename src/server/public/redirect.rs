//! Redirects: the answer to almost every request, and therefore cheap.

use std::borrow::Cow;

use bytes::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_LENGTH, HeaderMap, HeaderValue, LOCATION, REFERRER_POLICY, VARY,
};
use hyper::{Response, StatusCode};
use tracing::error;

use crate::mapping::{DEFAULT_MAX_AGE, Redirect, SiteKey, SiteRedirect, Status, Via};

use crate::server::http::{Answered, Content, Moment, response};

/// The fields of an answer after `Cache-Control`.
const REST: &str = "\r\nReferrer-Policy: no-referrer\r\nContent-Length: 0\r\n";

/// The fields of nearly all answers after the location, which are written at once.
const REST_BY_DEFAULT: &str = "\r\nCache-Control: public, max-age=60\r\nReferrer-Policy: no-referrer\r\nContent-Length: 0\r\n";

/// Returns the answer to a followed short link, and how it is counted.
pub(crate) fn answer(redirect: Redirect<'_>) -> (Answered, Response<Content>) {
    let answered = answered(&redirect);
    let response = response_to(redirect.status, redirect.location.into(), redirect.max_age);
    if redirect.varies {
        return (answered, response::with(response, VARY, "Accept"));
    }
    (answered, response)
}

/// Returns the answer to a request that a key of the site redirects, and how it is counted.
pub(super) fn answer_site(redirect: SiteRedirect<'_>) -> (Answered, Response<Content>) {
    let (answered, max_age) = (answered_site(&redirect), redirect.key.max_age());
    let location = redirect.location.into_owned();
    (answered, response_to(Status::Found, location, max_age))
}

/// Returns how a request is counted that a key of the site redirects.
pub(super) fn answered_site(redirect: &SiteRedirect<'_>) -> Answered {
    match redirect.key {
        SiteKey::Home => Answered::Redirect,
        SiteKey::Fallback => Answered::Fallback,
    }
}

fn response_to(redirected: Status, location: String, max_age: u32) -> Response<Content> {
    let location = Bytes::from(location);
    let Ok(location) = HeaderValue::from_maybe_shared(location) else {
        // Targets are ASCII by construction. If one were not, an error is better than a wrong
        // header.
        error!("a Location value is not a valid header value");
        return response::line(StatusCode::INTERNAL_SERVER_ERROR);
    };

    let mut headers = HeaderMap::with_capacity(6);
    headers.insert(LOCATION, location);
    let cache_control = match cache_control(max_age) {
        Cow::Borrowed(usual) => HeaderValue::from_static(usual),
        Cow::Owned(other) => HeaderValue::from_maybe_shared(Bytes::from(other))
            .expect("letters, digits and signs are fit for a header"),
    };
    headers.insert(CACHE_CONTROL, cache_control);
    let no_referrer = HeaderValue::from_static("no-referrer");
    headers.insert(REFERRER_POLICY, no_referrer);
    headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    let mut response = Response::new(Content::default());
    *response.status_mut() = status(redirected);
    *response.headers_mut() = headers;
    response
}

/// Returns how a followed short link is counted.
pub(super) fn answered(redirect: &Redirect<'_>) -> Answered {
    match redirect.via {
        Via::Code => Answered::Redirect,
        Via::Forward => Answered::Forward,
        Via::Repair => Answered::Repaired,
    }
}

/// Appends the same answer as [`answer`] returns, as hyper would write it; `false` if its location is
/// not fit for a header, or depends on fields that the fast path does not read.
pub(super) fn write(out: &mut Vec<u8>, redirect: &Redirect<'_>, now: &Moment) -> bool {
    if redirect.varies {
        return false;
    }
    write_to(
        out,
        redirect.status,
        redirect.location.parts(),
        redirect.max_age,
        now,
    )
}

/// Appends the same answer as [`answer_site`] returns, as [`write`] does.
pub(super) fn write_site(out: &mut Vec<u8>, redirect: &SiteRedirect<'_>, now: &Moment) -> bool {
    let max_age = redirect.key.max_age();
    write_to(out, Status::Found, (&redirect.location, ""), max_age, now)
}

/// Appends the answer with a location in two parts.
#[inline]
fn write_to(
    out: &mut Vec<u8>,
    status: Status,
    (first, rest): (&str, &str),
    max_age: u32,
    now: &Moment,
) -> bool {
    let before = out.len();
    out.extend_from_slice(start(status).as_bytes());
    let from = out.len();
    out.extend_from_slice(first.as_bytes());
    out.extend_from_slice(rest.as_bytes());
    // Without an early exit, so that the compiler can vectorize it.
    let location = out[from..].iter();
    if !location.fold(true, |fit, byte| fit & byte.is_ascii_graphic()) {
        out.truncate(before);
        return false;
    }
    match max_age {
        DEFAULT_MAX_AGE => out.extend_from_slice(REST_BY_DEFAULT.as_bytes()),
        _ => {
            out.extend_from_slice(b"\r\nCache-Control: ");
            out.extend_from_slice(cache_control(max_age).as_bytes());
            out.extend_from_slice(REST.as_bytes());
        }
    }
    out.extend_from_slice(&now.end_of_head);
    true
}

fn status(status: Status) -> StatusCode {
    match status {
        Status::MovedPermanently => StatusCode::MOVED_PERMANENTLY,
        Status::Found => StatusCode::FOUND,
        Status::SeeOther => StatusCode::SEE_OTHER,
        Status::TemporaryRedirect => StatusCode::TEMPORARY_REDIRECT,
        Status::PermanentRedirect => StatusCode::PERMANENT_REDIRECT,
    }
}

/// Returns the beginning of an answer, up to the location.
fn start(status: Status) -> &'static str {
    match status {
        Status::MovedPermanently => "HTTP/1.1 301 Moved Permanently\r\nLocation: ",
        Status::Found => "HTTP/1.1 302 Found\r\nLocation: ",
        Status::SeeOther => "HTTP/1.1 303 See Other\r\nLocation: ",
        Status::TemporaryRedirect => "HTTP/1.1 307 Temporary Redirect\r\nLocation: ",
        Status::PermanentRedirect => "HTTP/1.1 308 Permanent Redirect\r\nLocation: ",
    }
}

fn cache_control(max_age: u32) -> Cow<'static, str> {
    match max_age {
        0 => Cow::Borrowed("no-store"),
        DEFAULT_MAX_AGE => Cow::Borrowed("public, max-age=60"),
        seconds => Cow::Owned(format!("public, max-age={seconds}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_how_long_it_may_be_cached() {
        assert_eq!(cache_control(0), "no-store");
        assert_eq!(cache_control(60), "public, max-age=60");
        assert_eq!(cache_control(u32::MAX), "public, max-age=4294967295");
        let by_default = cache_control(DEFAULT_MAX_AGE);
        let rest = format!("\r\nCache-Control: {by_default}{REST}");
        assert_eq!(REST_BY_DEFAULT, rest);
    }

    #[test]
    fn sends_the_status_of_the_entry() {
        for code in [301, 302, 303, 307, 308] {
            let named = Status::from_code(code).unwrap();
            let sent = status(named);
            assert_eq!(sent.as_u16(), code);
            let start = start(named);
            assert_eq!(start, format!("HTTP/1.1 {sent}\r\nLocation: "));
        }
    }
}
