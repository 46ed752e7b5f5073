//! The admin listener: probes, metrics, the status, and a way to request a reload.
//!
//! It is for operators on a private network, and so has no authentication. To keep web pages from
//! abusing it through an operator's browser, requests that change anything are refused to all
//! pages, and anything beyond probes and metrics is refused under a host name that no operator has
//! allowed.

use std::time::SystemTime;

use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;

use crate::mapping::Timestamp;

use super::health;
use super::status::{ErrorView, RevisionView, StatusDocument};
use crate::server::http::{
    Content, JSON, READING, TEXT, admin_hosts, not_allowed, request, response,
};
use crate::server::reload::{ReloadReport, Reloads};
use crate::server::state::{Reloaded, Shared};
use crate::server::tls::{Tls, TlsView};
use crate::source::FetchResult;

/// The content type of the Prometheus text format.
const METRICS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The body of the answer to a request that names another host.
const MISDIRECTED: &str = "421 Misdirected Request\n\
    The admin listener answers this under an IP address, localhost, and the names \
    that the setting \"admin host\" allows.\n";

#[derive(Serialize)]
struct Reload {
    result: &'static str,
    revision: Option<RevisionView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls: Option<TlsView>,
}

/// Returns the answer to an operator's request.
pub(crate) async fn answer<B>(
    shared: &Shared,
    reloads: &Reloads,
    request: Request<B>,
) -> Response<Content> {
    let refusal = refusal(shared, &request);
    let (head, body) = request.into_parts();
    // No request here has content that matters, and hyper waits for a body until it is dropped.
    drop(body);
    let reads = matches!(head.method, Method::GET | Method::HEAD);
    let response = match head.uri.path() {
        _ if refusal.is_some() => refusal.unwrap_or_default(),
        "/-/reload" => match head.method {
            Method::POST if request::is_from_a_page(&head.headers) => {
                response::line(StatusCode::FORBIDDEN)
            }
            Method::POST => reload(shared, reloads).await,
            _ => not_allowed("POST"),
        },
        "/livez" | "/readyz" | "/healthz" | "/metrics" | "/-/status" if !reads => {
            not_allowed(READING)
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
        // The public listener's answer, for clients that cannot use that listener because of TLS.
        "/healthz" => health::answer(shared),
        "/metrics" => response::body(StatusCode::OK, METRICS, shared.metrics.exposition()),
        "/-/status" => response::json(StatusCode::OK, JSON, &StatusDocument::of(shared)),
        _ => response::line(StatusCode::NOT_FOUND),
    };
    let response = response::with(response, CACHE_CONTROL, "no-store");
    response::for_method(&head.method, response)
}

/// Returns the refusal of a request that names no host under which it may be answered.
///
/// Probes and scrapers reach a server by any name or port, and the answers to them are not secret;
/// so their paths are answered under any host, or none.
fn refusal<B>(shared: &Shared, request: &Request<B>) -> Option<Response<Content>> {
    if matches!(
        request.uri().path(),
        "/livez" | "/readyz" | "/healthz" | "/metrics"
    ) {
        return None;
    }
    let Ok(asked) = request::read(request) else {
        return Some(response::line(StatusCode::BAD_REQUEST));
    };
    let is_allowed = |host| admin_hosts::is_allowed(host, &shared.admin_hosts);
    (!asked.host.is_some_and(is_allowed))
        .then(|| response::body(StatusCode::MISDIRECTED_REQUEST, TEXT, MISDIRECTED))
}

/// Waits for a reload and reports its outcome.
///
/// If the source could not be fetched, that is the outcome, although what was fetched before is live:
/// nobody knows whether it is the latest.
async fn reload(shared: &Shared, reloads: &Reloads) -> Response<Content> {
    match reloads.now().await {
        None => response::line(StatusCode::SERVICE_UNAVAILABLE),
        Some(ReloadReport::Live(result)) => {
            let last_fetch = shared.source.fetching().and_then(|it| it.last);
            if let Some(failed) = last_fetch.filter(|it| !it.result.is_success()) {
                let status = match failed.result {
                    FetchResult::TimedOut => StatusCode::GATEWAY_TIMEOUT,
                    FetchResult::Refused => StatusCode::UNPROCESSABLE_ENTITY,
                    _ => StatusCode::BAD_GATEWAY,
                };
                return response::json(status, JSON, &ErrorView::from(&failed));
            }
            let live = shared.live.load();
            let done = Reload {
                result: result.as_str(),
                revision: live.as_ref().map(|live| RevisionView::from(&live.revision)),
                tls: shared.tls.as_ref().map(Tls::view),
            };
            response::json(StatusCode::OK, JSON, &done)
        }
        Some(ReloadReport::Refused(error)) => {
            let status = match error.result() {
                Reloaded::Rejected => StatusCode::UNPROCESSABLE_ENTITY,
                _ => StatusCode::SERVICE_UNAVAILABLE,
            };
            response::json(status, JSON, &ErrorView::from(&*error))
        }
    }
}
