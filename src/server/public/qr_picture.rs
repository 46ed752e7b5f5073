//! `/-/qr/CODE.svg`: a short link as a QR code, for pages, posters and slides.
//!
//! It is answered for retired and expired codes too: it depends on nothing but the code, which stays
//! theirs, and what is printed already leads to the page that explains it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use sha2::{Digest, Sha256};

use crate::exchange::qr_svg;
use crate::mapping::Site;

use crate::server::http::{Answered, Content, is_known, misdirected, only_read, response};

const SVG: HeaderValue = HeaderValue::from_static("image/svg+xml");

/// Returns the raw code of a path, relative to `/-/`, that is one of a QR code.
pub(super) fn code(path: &str) -> Option<&str> {
    path.strip_prefix("qr/")?.strip_suffix(".svg")
}

/// Returns the answer for a raw code of a site, and how it is counted.
pub(super) fn answer<B>(
    site: Option<&Site>,
    code: &str,
    request: &Request<B>,
) -> (Option<Answered>, Response<Content>) {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return only_read();
    }
    let Some(site) = site else {
        return misdirected();
    };
    // A link may be too long for a QR code only under a base URL of thousands of bytes.
    let Some(svg) = site.short_url_at(code).and_then(|url| qr_svg(&url)) else {
        let response = response::line(StatusCode::NOT_FOUND);
        let response = response::with(response, CACHE_CONTROL, "no-cache");
        return (Some(Answered::NotFound), response);
    };
    let tag = format!("\"{}\"", URL_SAFE_NO_PAD.encode(Sha256::digest(&svg)));
    let tag = HeaderValue::try_from(tag).expect("base64 is fit for a header");
    let mut response = match is_known(request.headers(), &tag) {
        true => {
            let mut response = Response::new(Content::default());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        false => response::body(StatusCode::OK, SVG, svg),
    };
    let headers = response.headers_mut();
    headers.insert(ETAG, tag);
    // It stays the same until the base URL changes.
    let day = HeaderValue::from_static("public, max-age=86400");
    headers.insert(CACHE_CONTROL, day);
    // Opened by itself it is a document, in which nothing may load or run.
    let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    (Some(Answered::Page), response)
}
