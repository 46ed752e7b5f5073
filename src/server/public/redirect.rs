//! Redirects: the answer to almost every request, and so made cheaply.

use bytes::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_LENGTH, HeaderMap, HeaderValue, LOCATION, REFERRER_POLICY,
};
use hyper::{Response, StatusCode};
use tracing::error;

use crate::mapping::{Redirect, Status, Via};

use crate::server::http::{Answered, Content, response};

/// Returns the answer to a followed short link, and how it is counted.
pub(crate) fn answer(redirect: Redirect<'_>) -> (Answered, Response<Content>) {
    let answered = match redirect.via {
        Via::Code => Answered::Redirect,
        Via::Forward => Answered::Forward,
        Via::Repair => Answered::Repaired,
    };
    let location = Bytes::from(redirect.location);
    let Ok(location) = HeaderValue::from_maybe_shared(location) else {
        // Targets are ASCII by construction. If one were not, an error is better than a wrong
        // header.
        error!("a location is not fit for a header");
        return (answered, response::line(StatusCode::INTERNAL_SERVER_ERROR));
    };

    let mut headers = HeaderMap::with_capacity(6);
    headers.insert(LOCATION, location);
    headers.insert(CACHE_CONTROL, cache_control(redirect.max_age));
    let no_referrer = HeaderValue::from_static("no-referrer");
    headers.insert(REFERRER_POLICY, no_referrer);
    headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    let mut response = Response::new(Content::default());
    *response.status_mut() = status(redirect.status);
    *response.headers_mut() = headers;
    (answered, response)
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

fn cache_control(max_age: u32) -> HeaderValue {
    match max_age {
        0 => HeaderValue::from_static("no-store"),
        // The default of tables.
        60 => HeaderValue::from_static("public, max-age=60"),
        seconds => {
            HeaderValue::from_maybe_shared(Bytes::from(format!("public, max-age={seconds}")))
                .expect("letters, digits and signs are fit for a header")
        }
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
    }

    #[test]
    fn sends_the_status_of_the_entry() {
        for code in [301, 302, 303, 307, 308] {
            let named = Status::from_code(code).unwrap();
            assert_eq!(status(named).as_u16(), code);
        }
    }
}
