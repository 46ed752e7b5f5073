//! The redirect to HTTPS: each request without TLS is redirected to the same target under
//! `https://`.
//!
//! The table, not the client, determines the host: it is that of the requested site, so no request
//! can turn this into an open redirect. There is no exception for ACME's http-01 challenge, which
//! is redirected like everything else.

use std::time::Instant;

use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, HeaderValue, LOCATION};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::{CONTROLS, utf8_percent_encode};

use crate::mapping::{BaseUrl, ServerPage};

use super::route;
use crate::server::http::{
    Answered, Content, CountedResponse, Refused, RequestCounts, bad_request, misdirected,
    only_read, request, response, unavailable,
};
use crate::server::ops::health;
use crate::server::state::Shared;

/// The default port of `https` URLs.
const HTTPS: u16 = 443;

/// Answers a request without TLS and counts it.
pub(crate) fn answer<B>(
    shared: &Shared,
    counts: &RequestCounts,
    port: u16,
    request: &Request<B>,
) -> Response<Content> {
    let began = Instant::now();
    let (answered, response) = decide(shared, port, request);
    let response = route::explained(shared, request, response);
    if let Some(answered) = answered {
        counts.answered(answered, began.elapsed());
    }
    response
}

fn decide<B>(shared: &Shared, port: u16, request: &Request<B>) -> CountedResponse {
    let asked = match request::read(request) {
        Ok(asked) => asked,
        Err(Refused::BadRequest) => return (Some(Answered::BadRequest), bad_request()),
        Err(Refused::Method) => return only_read(),
    };
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if ServerPage::at(asked.path) == Some(ServerPage::Health) && reads {
        // For load balancers, most of which use HTTP and follow no redirects.
        return (Some(Answered::Page), health::answer(shared));
    }
    let live = shared.live.load();
    let Some(snapshot) = &*live else {
        return (None, unavailable());
    };
    let Some(site) = snapshot.table.site_of(asked.host, asked.path) else {
        return misdirected();
    };
    let location = location(site.base_url(), port, asked.path, asked.query);
    // 301 for requests that only read, which every client understands, and 308 for the rest, so that
    // a POST stays a POST.
    let status = match reads {
        true => StatusCode::MOVED_PERMANENTLY,
        false => StatusCode::PERMANENT_REDIRECT,
    };
    (Some(Answered::ToHttps), redirect(status, location))
}

/// Returns the same target under `https://`.
///
/// An `https` base URL determines the port. Any other says nothing about HTTPS, and then the port
/// is the one that this server listens on.
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
    // Bytes beyond ASCII, which some clients send unencoded, are not allowed in this header.
    location.extend(utf8_percent_encode(path, CONTROLS));
    if let Some(query) = query {
        location.push('?');
        location.extend(utf8_percent_encode(query, CONTROLS));
    }
    location
}

fn redirect(status: StatusCode, location: String) -> Response<Content> {
    let mut response = Response::new(Content::default());
    *response.status_mut() = status;
    let location = HeaderValue::from_maybe_shared(Bytes::from(location))
        .expect("the host is a URL's, and the rest is encoded");
    let headers = response.headers_mut();
    headers.insert(LOCATION, location);
    headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    // The client continues on another listener.
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    // An hour, because clients may otherwise keep a 301 forever, which could not be undone.
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
