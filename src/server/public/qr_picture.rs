//! `/-/qr/CODE.svg`: a short link as a QR code, for pages, posters and slides.
//!
//! It is available for retired and expired codes too: it depends only on the code, which stays
//! taken, and printed copies lead to the page that explains it.
//!
//! Drawing one takes as long as a hundred redirects, and more for a long link; so it is drawn in the
//! background, a few at a time, and only for clients that do not have it.

use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use sha2::{Digest, Sha256};

use crate::exchange::qr_svg;
use crate::mapping::Timestamp;

use super::own_path::OwnPath;
use super::route;
use crate::server::http::{
    Answered, Content, CountedResponse, RequestCounts, is_known, misdirected, only_read,
    request as head, response, unavailable,
};
use crate::server::reload::in_background;
use crate::server::state::{PictureSlots, Shared};

const SVG: HeaderValue = HeaderValue::from_static("image/svg+xml");

/// Returns whether a request may be for a QR code; [`answer`] answers it in any case.
pub(super) fn may_be_addressed<B>(request: &Request<B>) -> bool {
    let path = request.uri().path();
    path.contains("/-/qr/") && path.ends_with(".svg")
}

/// Answers a request and counts it.
pub(super) async fn answer(
    shared: &Shared,
    counts: &RequestCounts,
    request: Request<Incoming>,
) -> Response<Content> {
    // Its content is dropped only after the answer.
    let (head, _content) = request.into_parts();
    let request = Request::from_parts(head, ());
    let answer = match begin(shared, &request) {
        None => return route::answer(shared, counts, &request),
        Some(Err(counted)) => counted,
        Some(Ok(url)) => picture(&shared.pictures, request.headers(), url).await,
    };
    route::counted(shared, counts, &request, answer)
}

/// Returns the short link whose QR code is requested, or the reason for having none; `None` if the
/// request is for something else, or of a kind that is answered the same way everywhere.
fn begin(shared: &Shared, request: &Request<()>) -> Option<Result<String, CountedResponse>> {
    let asked = head::read(request).ok()?;
    let live = shared.live.load();
    let own = OwnPath::read(&live.as_ref()?.table, &asked)?;
    let code = own.rest.strip_prefix("qr/")?.strip_suffix(".svg")?;
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Some(Err(only_read()));
    }
    let Some(site) = own.site else {
        return Some(Err(misdirected()));
    };
    Some(site.short_url_at(code).ok_or_else(|| {
        let now = Timestamp::from(SystemTime::now());
        let page = route::context(shared, request.headers(), live.as_deref(), now);
        let response = page.no_such_page(Some(site), asked.path);
        (Some(Answered::NotFound), response)
    }))
}

/// Returns the QR code of a short link.
async fn picture(slots: &PictureSlots, headers: &HeaderMap, url: String) -> CountedResponse {
    let tag = tag(&url);
    let mut response = match is_known(headers, &tag) {
        true => {
            let mut response = Response::new(Content::default());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        false => {
            let Some(slot) = slots.take().await else {
                return (None, unavailable());
            };
            let drawn = in_background(move || {
                let svg = qr_svg(&url);
                drop(slot);
                svg
            });
            match drawn.await {
                Ok(Some(svg)) => response::body(StatusCode::OK, SVG, svg),
                // A link may be too long for a QR code only under a base URL of thousands of bytes.
                Ok(None) => return not_found(),
                Err(_) => return (None, unavailable()),
            }
        }
    };
    let headers = response.headers_mut();
    headers.insert(ETAG, tag);
    // It stays the same until the base URL changes.
    let day = HeaderValue::from_static("public, max-age=86400");
    headers.insert(CACHE_CONTROL, day);
    // Opened on its own, it is a document, in which nothing may load or run.
    let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    (Some(Answered::Page), response)
}

fn not_found() -> CountedResponse {
    let response = response::line(StatusCode::NOT_FOUND);
    let response = response::with(response, CACHE_CONTROL, "no-cache");
    (Some(Answered::NotFound), response)
}

/// Returns the entity tag of the QR code of a link, which depends on that and on this program.
fn tag(url: &str) -> HeaderValue {
    let mut digest = Sha256::new();
    for part in [env!("CARGO_PKG_VERSION"), url] {
        digest.update(part);
        digest.update([0]);
    }
    let tag = URL_SAFE_NO_PAD.encode(&digest.finalize()[..18]);
    let tag = format!("\"{tag}\"");
    HeaderValue::try_from(tag).expect("base64 is fit for a header")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hyper::header::{IF_NONE_MATCH, RETRY_AFTER};

    use super::*;

    const URL: &str = "https://short.code/a";

    #[tokio::test]
    async fn only_a_few_are_drawn_at_once() {
        let slots = PictureSlots::waiting(Duration::ZERO);
        let ask = async |headers| picture(&slots, &headers, URL.to_owned()).await.1;
        let mut taken = Vec::new();
        while let Some(slot) = slots.take().await {
            taken.push(slot);
            assert!(taken.len() < 100, "there is no limit");
        }
        let busy = ask(HeaderMap::new()).await;
        assert_eq!(busy.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(busy.headers().contains_key(RETRY_AFTER));
        assert!(!busy.headers().contains_key(ETAG));
        // One that the client already has is not drawn again.
        let known = HeaderMap::from_iter([(IF_NONE_MATCH, tag(URL))]);
        assert_eq!(ask(known).await.status(), StatusCode::NOT_MODIFIED);

        taken.pop();
        for _ in 0..3 {
            let drawn = ask(HeaderMap::new()).await;
            assert_eq!(drawn.status(), StatusCode::OK);
            assert_eq!(drawn.headers()[ETAG], tag(URL));
        }
    }

    #[tokio::test]
    async fn what_is_too_long_is_not_found() {
        let slots = PictureSlots::default();
        let url = format!("https://short.code/{}", "x".repeat(2400));
        let (_, response) = picture(&slots, &HeaderMap::new(), url).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
        assert!(!response.headers().contains_key(ETAG));
    }

    #[test]
    fn each_link_has_its_tag() {
        assert_ne!(tag(URL), tag("https://short.code/b"));
    }
}
