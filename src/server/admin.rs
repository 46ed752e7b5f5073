//! The admin listener: probes, metrics, the status, and a way to ask for a reload.
//!
//! It is for operators on a private network, and so has no authentication; that browsers there
//! are not turned against it, what changes anything is refused to any page's script.

use std::time::SystemTime;

use hyper::header::{ALLOW, CACHE_CONTROL, HeaderValue, ORIGIN};
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;

use crate::mapping::Timestamp;

use super::content::Content;
use super::live::Reloaded;
use super::reload::{Reloads, Report};
use super::response::{self, JSON, TEXT};
use super::status::{ErrorView, RevisionView, Status};
use super::tls::{Tls, TlsView};
use super::{Shared, health};

/// The content type of the Prometheus text format.
const METRICS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

#[derive(Serialize)]
struct Reload {
    result: &'static str,
    revision: Option<RevisionView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls: Option<TlsView>,
}

/// Returns the answer to an operator's request.
pub(super) async fn answer<B>(
    shared: &Shared,
    reloads: &Reloads,
    request: Request<B>,
) -> Response<Content> {
    let (head, body) = request.into_parts();
    // No request here has content that counts, and hyper waits for a body as long as it is held.
    drop(body);
    let reads = matches!(head.method, Method::GET | Method::HEAD);
    let response = match head.uri.path() {
        "/-/reload" => match head.method {
            Method::POST if head.headers.contains_key(ORIGIN) => {
                response::line(StatusCode::FORBIDDEN)
            }
            Method::POST => reload(shared, reloads).await,
            _ => not_allowed("POST"),
        },
        "/livez" | "/readyz" | "/healthz" | "/metrics" | "/-/status" if !reads => {
            not_allowed("GET, HEAD")
        }
        "/livez" => response::body(StatusCode::OK, TEXT, "ok\n"),
        "/readyz" => match health::unreadiness(shared, Timestamp::from(SystemTime::now())) {
            None => response::body(StatusCode::OK, TEXT, "ok\n"),
            Some(problem) => response::body(
                StatusCode::SERVICE_UNAVAILABLE,
                TEXT,
                format!("{problem}\n"),
            ),
        },
        // What the public listener says, for who cannot ask there because it speaks TLS.
        "/healthz" => health::answer(shared),
        "/metrics" => response::body(StatusCode::OK, METRICS, shared.metrics.exposition()),
        "/-/status" => response::json(StatusCode::OK, JSON, &Status::of(shared)),
        _ => response::line(StatusCode::NOT_FOUND),
    };
    let response = response::with(response, CACHE_CONTROL, "no-store");
    response::for_method(&head.method, response)
}

/// Waits for a reload and tells how it ended.
async fn reload(shared: &Shared, reloads: &Reloads) -> Response<Content> {
    match reloads.now().await {
        None => response::line(StatusCode::SERVICE_UNAVAILABLE),
        Some(Report::Live(result)) => {
            let live = shared.live.load();
            let done = Reload {
                result: result.as_str(),
                revision: live.as_ref().map(|live| RevisionView::from(&live.revision)),
                tls: shared.tls.as_ref().map(Tls::view),
            };
            response::json(StatusCode::OK, JSON, &done)
        }
        Some(Report::Refused(error)) => {
            let status = match error.result() {
                Reloaded::Rejected => StatusCode::UNPROCESSABLE_ENTITY,
                _ => StatusCode::SERVICE_UNAVAILABLE,
            };
            response::json(status, JSON, &ErrorView::from(&*error))
        }
    }
}

fn not_allowed(allowed: &'static str) -> Response<Content> {
    let response = response::line(StatusCode::METHOD_NOT_ALLOWED);
    response::with(response, ALLOW, allowed)
}
