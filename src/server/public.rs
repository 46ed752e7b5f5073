//! The public side as one connection sees it: what answers a request, and when the connection
//! should end with it.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, COOKIE, HeaderMap, HeaderValue};
use hyper::{Request, Response, StatusCode};
use tokio::sync::Semaphore;

use super::counts::{Answered, Counts};
use super::metrics::Open;
use super::reload::Reloads;
use super::shutdown::Phases;
use super::{HookSecret, Shared, hook, https_redirect, response, route};

/// How many header fields a request may have: as many as hyper lets through in HTTP/1.1.
const FIELDS: usize = 100;

/// What all connections of one listener share.
pub(super) struct Public {
    pub(super) shared: Arc<Shared>,
    /// One is taken for each connection, and one held for the next.
    pub(super) permits: Arc<Semaphore>,
    pub(super) answers: Answers,
}

/// What a listener is for.
pub(super) enum Answers {
    /// Short links are followed there.
    Links {
        hook: Option<HookSecret>,
        reloads: Reloads,
    },
    /// Clients are sent on to where short links are followed by HTTPS.
    HttpsRedirects {
        /// The port of that listener.
        port: u16,
    },
}

/// One connection's view of it.
#[derive(Clone)]
pub(super) struct PublicClient {
    public: Arc<Public>,
    counts: Arc<Counts>,
}

impl Public {
    /// Returns what serves a connection whose requests are counted there.
    pub(super) fn client(self: &Arc<Self>, counts: &Arc<Counts>) -> PublicClient {
        PublicClient {
            public: Arc::clone(self),
            counts: Arc::clone(counts),
        }
    }
}

impl PublicClient {
    /// Counts a connection as open until what is returned is dropped. Those that are only sent on
    /// are not among them, and have a limit of their own.
    pub(super) fn open(&self) -> Option<Open> {
        let follows_links = matches!(self.public.answers, Answers::Links { .. });
        follows_links.then(|| self.public.shared.metrics.connection())
    }

    /// Returns a way to wait for the server's phases.
    pub(super) fn phases(&self) -> Phases {
        self.public.shared.lifecycle.phases()
    }

    /// Counts a request that hyper has refused by itself.
    pub(super) fn refused(&self) {
        self.counts.count(Answered::BadRequest);
    }

    /// Returns the answer to a request; it says `Connection: close` if others wait for their turn
    /// or the server is about to end.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (shared, counts) = (&*self.public.shared, &*self.counts);
        let method = request.method().clone();
        let response = match &self.public.answers {
            _ if fields(request.headers()) > FIELDS => {
                counts.count(Answered::BadRequest);
                let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
                response::with(response::line(status), CONNECTION, "close")
            }
            Answers::Links {
                hook: Some(secret),
                reloads,
            } if hook::is_meant(&request) => hook::answer(counts, secret, reloads, request).await,
            Answers::Links { .. } => route::answer(shared, counts, &request),
            Answers::HttpsRedirects { port } => {
                https_redirect::answer(shared, counts, *port, &request)
            }
        };
        let mut response = response::for_method(&method, response);
        if shared.lifecycle.is_draining() || self.public.permits.available_permits() == 0 {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        response
    }
}

/// Returns how many header fields HTTP/1.1 would have: clients of HTTP/2 may send each cookie in a
/// field of its own (RFC 9113 section 8.2.3).
fn fields(headers: &HeaderMap) -> usize {
    let cookies = headers.get_all(COOKIE).iter().count();
    headers.len() - cookies.saturating_sub(1)
}
