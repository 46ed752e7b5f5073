//! The interface of a connection to the public listener: the answers to its requests, and whether
//! the connection ends with an answer.

use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::Incoming;
use hyper::header::{CONNECTION, COOKIE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::Semaphore;

use super::hook::{self, HookSecret};
use super::hook_pace::HookPace;
use super::{https_redirect, link_list, proposal, qr_picture, route};
use crate::server::http::{Answered, Content, RequestCounts, response};
use crate::server::net::Phases;
use crate::server::registrations;
use crate::server::registrations::Service;
use crate::server::state::{OpenConnection, Shared};

/// The most header fields a request may have: as many as hyper allows in HTTP/1.1.
const FIELDS: usize = 100;

/// The state shared by all connections of one listener.
pub(crate) struct Public {
    pub(crate) shared: Arc<Shared>,
    /// One is taken for each connection, and one is reserved for the next.
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) purpose: ListenerPurpose,
    /// Whether plain requests are answered without hyper.
    pub(crate) fast_path: bool,
}

/// The purpose of a listener.
pub(crate) enum ListenerPurpose {
    /// Following short links.
    Links {
        hook: Option<(HookSecret, HookPace)>,
        registrations: Option<Arc<Service>>,
    },
    /// Redirecting clients to the listener that follows short links over HTTPS.
    HttpsRedirects {
        /// The port of that listener.
        port: u16,
    },
}

/// One connection's view of a listener.
#[derive(Clone)]
pub(crate) struct PublicClient {
    pub(super) public: Arc<Public>,
    pub(super) counts: Arc<RequestCounts>,
}

impl Public {
    /// Returns the handler of a connection whose requests are counted in `counts`.
    pub(crate) fn client(self: &Arc<Self>, counts: &Arc<RequestCounts>) -> PublicClient {
        PublicClient {
            public: Arc::clone(self),
            counts: Arc::clone(counts),
        }
    }

    /// Returns whether answers end their connections: other clients wait for one, or the server is
    /// about to end.
    pub(super) fn closes_connections(&self) -> bool {
        self.shared.lifecycle.is_draining() || self.permits.available_permits() == 0
    }
}

impl PublicClient {
    /// Counts a connection as open until the returned value is dropped. Connections that are
    /// redirected to HTTPS are not counted; they have their own limit.
    pub(crate) fn open(&self) -> Option<OpenConnection> {
        let follows_links = matches!(self.public.purpose, ListenerPurpose::Links { .. });
        follows_links.then(|| self.public.shared.metrics.connection())
    }

    /// Returns a way to wait for the server's phases.
    pub(crate) fn phases(&self) -> Phases {
        self.public.shared.lifecycle.phases()
    }

    /// Counts a request that hyper refused on its own.
    pub(crate) fn refused(&self) {
        self.counts.count(Answered::BadRequest);
    }

    /// Returns the answer to a request; it includes `Connection: close` if other clients wait for a
    /// connection or the server is about to end.
    pub(crate) fn answer(&self, request: Request<Incoming>) -> Answer {
        let (shared, counts) = self.parts();
        let response = match &self.public.purpose {
            _ if has_too_many_fields(request.headers()) => {
                counts.count(Answered::BadRequest);
                let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
                let response = response::with(response::line(status), CONNECTION, "close");
                route::explained(shared, &request, response)
            }
            ListenerPurpose::Links {
                hook: Some((secret, pace)),
                ..
            } if hook::is_addressed(&request) => {
                let (secret, pace) = (secret.clone(), pace.clone());
                return self.under_way(request.method().clone(), |client| async move {
                    hook::answer(&client.counts, &secret, &pace, request).await
                });
            }
            ListenerPurpose::Links { registrations, .. }
                if registrations::is_addressed(&request)
                    // Without both, these paths do not exist.
                    && (registrations.is_some() || shared.is_public()) =>
            {
                let service = registrations.clone();
                return self.under_way(request.method().clone(), |client| async move {
                    let (shared, counts) = client.parts();
                    registrations::answer(service.as_deref(), shared, counts, request).await
                });
            }
            ListenerPurpose::Links { registrations, .. }
                if proposal::may_be_addressed(&request) =>
            {
                let service = registrations.clone();
                return self.under_way(request.method().clone(), |client| async move {
                    let (shared, counts) = client.parts();
                    proposal::answer(service.as_deref(), shared, counts, request).await
                });
            }
            ListenerPurpose::Links { .. } if link_list::may_be_addressed(&request) => {
                return self.under_way(request.method().clone(), |client| async move {
                    let (shared, counts) = client.parts();
                    link_list::answer(shared, counts, request).await
                });
            }
            ListenerPurpose::Links { .. } if qr_picture::may_be_addressed(&request) => {
                return self.under_way(request.method().clone(), |client| async move {
                    let (shared, counts) = client.parts();
                    qr_picture::answer(shared, counts, request).await
                });
            }
            ListenerPurpose::Links { .. } => route::answer(shared, counts, &request),
            ListenerPurpose::HttpsRedirects { port } => {
                https_redirect::answer(shared, counts, *port, &request)
            }
        };
        let response = self.finished(request.method(), response);
        Answer::Made {
            answer: ready(response),
            _content: request.into_body(),
        }
    }

    /// Returns an answer that takes time.
    fn under_way<F>(&self, method: Method, answer: impl FnOnce(Self) -> F) -> Answer
    where
        F: Future<Output = Response<Content>> + Send + 'static,
    {
        let client = self.clone();
        let answer = answer(self.clone());
        Answer::UnderWay(Box::pin(
            async move { client.finished(&method, answer.await) },
        ))
    }

    fn parts(&self) -> (&Shared, &RequestCounts) {
        (&self.public.shared, &self.counts)
    }

    fn finished(&self, method: &Method, response: Response<Content>) -> Response<Content> {
        let mut response = response::for_method(method, response);
        if self.public.closes_connections() {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        response
    }
}

/// An answer, which takes time only for hooks, registrations, proposals, lists of links and QR
/// codes.
pub(crate) enum Answer {
    /// Keeps the unused content: if it were dropped earlier, hyper would stop reading it before it
    /// answers, and end the connection.
    Made {
        answer: Ready<Response<Content>>,
        _content: Incoming,
    },
    UnderWay(Pin<Box<dyn Future<Output = Response<Content>> + Send>>),
}

impl Future for Answer {
    type Output = Response<Content>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Made { answer, .. } => Pin::new(answer).poll(cx),
            Self::UnderWay(answer) => answer.as_mut().poll(cx),
        }
    }
}

/// Returns whether there are more header fields than allowed, counted as in HTTP/1.1: clients of
/// HTTP/2 may send each cookie in its own field (RFC 9113 section 8.2.3).
fn has_too_many_fields(headers: &HeaderMap) -> bool {
    let cookies = || headers.get_all(COOKIE).iter().count();
    headers.len() > FIELDS && headers.len() - cookies().saturating_sub(1) > FIELDS
}
