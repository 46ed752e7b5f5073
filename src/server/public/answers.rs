//! The public side as one connection sees it: the answers to its requests, and whether the
//! connection ends with an answer.

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
use crate::server::http::{Answered, Content, Counts, response};
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
    pub(crate) answers: Answers,
}

/// The purpose of a listener.
pub(crate) enum Answers {
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
    public: Arc<Public>,
    counts: Arc<Counts>,
}

impl Public {
    /// Returns the handler of a connection whose requests are counted in `counts`.
    pub(crate) fn client(self: &Arc<Self>, counts: &Arc<Counts>) -> PublicClient {
        PublicClient {
            public: Arc::clone(self),
            counts: Arc::clone(counts),
        }
    }
}

impl PublicClient {
    /// Counts a connection as open until the returned value is dropped. Connections that are
    /// redirected to HTTPS are not counted; they have a limit of their own.
    pub(crate) fn open(&self) -> Option<OpenConnection> {
        let follows_links = matches!(self.public.answers, Answers::Links { .. });
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
        let (shared, counts) = (&*self.public.shared, &*self.counts);
        let response = match &self.public.answers {
            _ if has_too_many_fields(request.headers()) => {
                counts.count(Answered::BadRequest);
                let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
                let response = response::with(response::line(status), CONNECTION, "close");
                route::explained(shared, &request, response)
            }
            Answers::Links {
                hook: Some((secret, pace)),
                ..
            } if hook::is_addressed(&request) => {
                let (client, secret, pace) = (self.clone(), secret.clone(), pace.clone());
                return Answer::UnderWay(Box::pin(async move {
                    let method = request.method().clone();
                    let counts = &client.counts;
                    let response = hook::answer(counts, &secret, &pace, request).await;
                    client.finished(&method, response)
                }));
            }
            Answers::Links {
                registrations: service,
                ..
            } if registrations::is_addressed(&request)
                // A server with neither does not have these paths.
                && (service.is_some() || shared.is_public()) =>
            {
                let (client, service) = (self.clone(), service.clone());
                return Answer::UnderWay(Box::pin(async move {
                    let method = request.method().clone();
                    let (shared, counts) = (&client.public.shared, &client.counts);
                    let service = service.as_deref();
                    let answer = registrations::answer(service, shared, counts, request);
                    client.finished(&method, answer.await)
                }));
            }
            Answers::Links {
                registrations: Some(service),
                ..
            } if proposal::may_be_addressed(&request) => {
                let (client, service) = (self.clone(), Arc::clone(service));
                return Answer::UnderWay(Box::pin(async move {
                    let method = request.method().clone();
                    let (shared, counts) = (&client.public.shared, &client.counts);
                    let answer = proposal::answer(&service, shared, counts, request);
                    client.finished(&method, answer.await)
                }));
            }
            Answers::Links { .. } if link_list::may_be_addressed(&request) => {
                let client = self.clone();
                return Answer::UnderWay(Box::pin(async move {
                    let method = request.method().clone();
                    let (shared, counts) = (&client.public.shared, &client.counts);
                    let response = link_list::answer(shared, counts, request).await;
                    client.finished(&method, response)
                }));
            }
            Answers::Links { .. } if qr_picture::may_be_addressed(&request) => {
                let client = self.clone();
                return Answer::UnderWay(Box::pin(async move {
                    let method = request.method().clone();
                    let (shared, counts) = (&client.public.shared, &client.counts);
                    let response = qr_picture::answer(shared, counts, request).await;
                    client.finished(&method, response)
                }));
            }
            Answers::Links { registrations, .. } => {
                route::answer(shared, counts, &request, registrations.is_some())
            }
            Answers::HttpsRedirects { port } => {
                https_redirect::answer(shared, counts, *port, &request)
            }
        };
        let response = self.finished(request.method(), response);
        Answer::Made {
            answer: ready(response),
            _content: request.into_body(),
        }
    }

    fn finished(&self, method: &Method, response: Response<Content>) -> Response<Content> {
        let mut response = response::for_method(method, response);
        let is_draining = self.public.shared.lifecycle.is_draining();
        if is_draining || self.public.permits.available_permits() == 0 {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        response
    }
}

/// An answer, which takes time only for hooks, registrations, proposals, lists of links and QR
/// codes.
pub(crate) enum Answer {
    /// Holds the unused content: if it were dropped sooner, hyper would stop reading it before it
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
/// HTTP/2 may send each cookie in a field of its own (RFC 9113 section 8.2.3).
fn has_too_many_fields(headers: &HeaderMap) -> bool {
    let cookies = || headers.get_all(COOKIE).iter().count();
    headers.len() > FIELDS && headers.len() - cookies().saturating_sub(1) > FIELDS
}
