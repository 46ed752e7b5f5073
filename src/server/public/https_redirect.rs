//! The way to HTTPS: each request in the clear is sent on to the same target under `https://`.
//!
//! Where to is the table's to say, not the client's: the host is that of the site that the request
//! means, so no request can make an open redirect of this. There is nothing here for ACME's
//! http-01 challenge, which is sent on like everything else.

use std::time::Instant;

use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, HeaderValue, LOCATION};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::{CONTROLS, utf8_percent_encode};

use crate::mapping::BaseUrl;

use crate::server::http::{
    Answered, Content, Counts, Refused, bad_request, not_allowed, request, response, unavailable,
};
use crate::server::ops::health;
use crate::server::state::Shared;

/// The port that an `https` URL means without saying.
const HTTPS: u16 = 443;

/// Returns the answer to a request in the clear, counted.
pub(crate) fn answer<B>(
    shared: &Shared,
    counts: &Counts,
    port: u16,
    request: &Request<B>,
) -> Response<Content> {
    let began = Instant::now();
    let (answered, response) = decide(shared, port, request);
    if let Some(answered) = answered {
        counts.answered(answered, began.elapsed());
    }
    response
}

fn decide<B>(
    shared: &Shared,
    port: u16,
    request: &Request<B>,
) -> (Option<Answered>, Response<Content>) {
    let asked = match request::read(request) {
        Ok(asked) => asked,
        Err(Refused::BadRequest) => return (Some(Answered::BadRequest), bad_request()),
        Err(Refused::Method) => return not_allowed(),
    };
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if asked.path == "/healthz" && reads {
        // For load balancers, most of which ask by HTTP and follow no redirects.
        return (Some(Answered::Page), health::answer(shared));
    }
    let live = shared.live.load();
    let Some(snapshot) = &*live else {
        return (None, unavailable());
    };
    let Some(site) = snapshot.table.site_of(asked.host, asked.path) else {
        let response = response::line(StatusCode::MISDIRECTED_REQUEST);
        return (Some(Answered::Misdirected), response);
    };
    let location = location(site.base_url(), port, asked.path, asked.query);
    (Some(Answered::ToHttps), redirect(reads, location))
}

/// Returns the same target under `https://`.
///
/// A base URL that is `https` knows its port. One that is not says nothing of HTTPS, and then it
/// is the port that this server listens on.
fn location(base_url: &BaseUrl, port: u16, path: &str, query: Option<&str>) -> String {
    let port = match base_url.is_https() {
        true => base_url.port().unwrap_or(HTTPS),
        false => port,
    };
    let host = base_url.host();
    let mut location = format!("https://{host}");
    if port != HTTPS {
        location += &format!(":{port}");
    }
    // Bytes beyond ASCII, which some clients send as they are, are not fit for a header.
    location.extend(utf8_percent_encode(path, CONTROLS));
    if let Some(query) = query {
        location.push('?');
        location.extend(utf8_percent_encode(query, CONTROLS));
    }
    location
}

/// Returns the redirect: 301 to what only reads, which every client ever made understands, and 308
/// to the rest, so that a POST stays one.
fn redirect(reads: bool, location: String) -> Response<Content> {
    let mut response = Response::new(Content::default());
    *response.status_mut() = match reads {
        true => StatusCode::MOVED_PERMANENTLY,
        false => StatusCode::PERMANENT_REDIRECT,
    };
    let location = HeaderValue::from_maybe_shared(Bytes::from(location))
        .expect("the host is a URL's, and the rest is encoded");
    let headers = response.headers_mut();
    headers.insert(LOCATION, location);
    headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    // The client goes on elsewhere.
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    // An hour, and not for ever as a 301 may be kept, so that there is a way back.
    response::with(response, CACHE_CONTROL, "public, max-age=3600")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_the_base_urls_or_our_own() {
        for (base_url, port, expected) in [
            ("https://a.example/", 8443, "https://a.example/x?y"),
            ("https://a.example:444/", 8443, "https://a.example:444/x?y"),
            ("http://a.example/", 8443, "https://a.example:8443/x?y"),
            ("http://a.example:81/", 443, "https://a.example/x?y"),
            ("https://[::1]/", 443, "https://[::1]/x?y"),
        ] {
            let base_url = BaseUrl::parse(base_url).unwrap();
            assert_eq!(location(&base_url, port, "/x", Some("y")), expected);
        }
    }

    #[test]
    fn a_target_stays_under_the_host_and_in_ascii() {
        let base_url = BaseUrl::parse("https://a.example/").unwrap();
        let to = |path| location(&base_url, 443, path, None);
        assert_eq!(to("//evil.example"), "https://a.example//evil.example");
        assert_eq!(to("/%0d%0a"), "https://a.example/%0d%0a");
        assert_eq!(to("/\u{e4}\u{7f}"), "https://a.example/%C3%A4%7F");
    }
}
