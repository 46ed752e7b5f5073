//! Links over HTTP, for programs: anyone can list them and look them up, and anyone with a token can
//! register them and change their own, or send one for review.
//!
//! Changes are off unless they are configured. They are pushed to the repository that the server
//! follows; there they are reviewed, reverted or edited like anything else.
//!
//! Invariants: state is kept only in Git, so nothing is lost with a server; a link that was
//! answered as created is in the remote's branch and live here; serving threads never wait; nothing
//! a client sends is logged, and no token is stored.

mod body;
mod edit_body;
mod existing_link;
mod idempotency;
mod lookup;
mod openapi;
mod outcome;
mod places;
mod preconditions;
mod problem_type;
mod queue;
mod request;
mod response;
mod review;
mod service;
mod tokens;
mod variants_in_body;

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use hyper::body::Incoming;
use hyper::header::{ALLOW, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use crate::mapping::Timestamp;
use crate::registry::Registrar;

use super::http::{Answered, Content, RequestCounts, bad_request, request as head};
use super::links::{self, JSON_VARIANT};
use super::reload::Reloads;
use super::state::Shared;

use self::idempotency::IdempotencyMemory;
use self::lookup::LinkQuery;
use self::problem_type::ProblemType;
use self::queue::{RegistrationQueue, Worker};
use self::review::{ReviewQueue, ReviewWorker};
use self::service::Operation;

pub(crate) use self::body::MAX_TEXT;
pub use self::body::PrivateUrls;
pub(crate) use self::review::{NotSent, SentLink};
pub(crate) use self::service::Service;
pub use self::tokens::{TokenFile, TokensError};

/// The path where links are registered and, with a slash and a code appended, looked up and changed.
const LINKS: &str = "/-/api/links";

/// The path of the service's description.
const OPENAPI: &str = "/-/api/openapi.json";

/// A registration service that has not started yet.
pub struct Registrations {
    tokens: Arc<TokenFile>,
    queue: RegistrationQueue,
    worker: Worker,
    reviews: ReviewQueue,
    review_worker: ReviewWorker,
    private: PrivateUrls,
}

impl Registrations {
    /// Lets anyone with a token register through a registrar.
    pub fn new(tokens: TokenFile, registrar: Registrar) -> Self {
        let registrar = Arc::new(Mutex::new(registrar));
        let (queue, worker) = queue::queue(Arc::clone(&registrar));
        let (reviews, review_worker) = review::queue(registrar);
        Self {
            tokens: Arc::new(tokens),
            queue,
            worker,
            reviews,
            review_worker,
            private: PrivateUrls::Accepted,
        }
    }

    /// Sets what happens to URLs with a private address.
    #[must_use]
    pub fn with_private_urls(self, private: PrivateUrls) -> Self {
        Self { private, ..self }
    }

    /// Returns the service, and the work to run for as long as it is used.
    pub(super) fn begin(
        self,
        shared: Arc<Shared>,
        reloads: Reloads,
    ) -> (Service, impl Future<Output = ()> + Send + 'static) {
        let tokens = Arc::clone(&self.tokens);
        let work = async move {
            tokio::join!(
                tokens.follow(),
                self.worker.run(shared, reloads),
                self.review_worker.run(),
            );
        };
        let service = Service {
            tokens: self.tokens,
            queue: self.queue,
            memory: IdempotencyMemory::default(),
            private: self.private,
            reviews: self.reviews,
        };
        (service, work)
    }
}

/// Returns whether a request is for the API of links.
pub(super) fn is_addressed<B>(request: &Request<B>) -> bool {
    let path = request.uri().path();
    let is_link = |path: &str| path.is_empty() || path.starts_with('/');
    path == OPENAPI || path.strip_prefix(LINKS).is_some_and(is_link)
}

/// Returns the code in a path, still percent-encoded.
fn code_of(path: &str) -> Option<&str> {
    path.strip_prefix(LINKS)?.strip_prefix('/')
}

/// Answers such a request and counts it; without a service, links can only be read.
pub(super) async fn answer(
    service: Option<&Service>,
    shared: &Shared,
    counts: &RequestCounts,
    request: Request<Incoming>,
) -> Response<Content> {
    let Ok(asked) = head::read(&request) else {
        counts.count(Answered::BadRequest);
        return bad_request();
    };
    let host = asked.host.map(str::to_owned);
    let (head, body) = request.into_parts();
    let code = code_of(head.uri.path()).map(str::to_owned);
    let method = head.method.clone();
    let is_link = head.uri.path() != OPENAPI;
    let operation = Operation::of(&method, code.as_deref()).filter(|_| is_link);
    let response = match (service, operation) {
        (Some(service), Some(operation)) => {
            let request = Request::from_parts(head, body);
            let answer = service.change(operation, shared, host.as_deref(), request);
            let answer = answer.await;
            shared.metrics.registered(operation.result(&answer));
            answer.into_response()
        }
        _ => {
            // Its content is dropped only after the answer.
            let (_content, request) = (body, Request::from_parts(head, ()));
            let read = read(service, shared, host.as_deref(), &request).await;
            read.unwrap_or_else(|kind| kind.answer().into_response())
        }
    };
    // Without a duration, which would be that of the remote or of a search, and not of a redirect.
    counts.count(match response.status() {
        StatusCode::NOT_FOUND => Answered::NotFound,
        StatusCode::METHOD_NOT_ALLOWED => Answered::MethodNotAllowed,
        status if status.is_client_error() => Answered::BadRequest,
        _ => Answered::Page,
    });
    response
}

/// Answers a request that changes nothing.
async fn read(
    service: Option<&Service>,
    shared: &Shared,
    host: Option<&str>,
    request: &Request<()>,
) -> Result<Response<Content>, ProblemType> {
    let path = request.uri().path();
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut answer = ProblemType::MethodNotAllowed.answer();
        let allowed = match (service, path, code_of(path)) {
            (Some(_), LINKS, _) => "GET, HEAD, POST",
            (Some(_), _, Some(_)) => {
                let patches = HeaderValue::from_static(service::MERGE_PATCH);
                answer.add(HeaderName::from_static("accept-patch"), patches);
                "GET, HEAD, PATCH, DELETE"
            }
            _ => "GET, HEAD",
        };
        answer.add(ALLOW, HeaderValue::from_static(allowed));
        return Ok(answer.into_response());
    }
    if path == OPENAPI {
        return Ok(openapi::answer().into_response());
    }
    let bearer = service.and_then(|service| service.bearer(request.headers()));
    if !shared.is_public() && bearer.is_none() {
        return Err(ProblemType::Unauthorized);
    }
    let live = shared.live.load_full().ok_or(ProblemType::NoTable)?;
    let sought = LinkQuery::read(code_of(path), request.uri().query())?;
    let now = Timestamp::from(SystemTime::now());
    match sought.search(&live, host, now) {
        None => {
            let checks = shared.link_checks.as_deref();
            Ok(sought.answer(&live, host, checks, now).into_response())
        }
        Some(search) => {
            let headers = request.headers().clone();
            let answer = search?.answer(&shared.searches, headers, JSON_VARIANT, |_, selection| {
                links::json(selection)
            });
            answer.await.ok_or(ProblemType::Busy)
        }
    }
}
