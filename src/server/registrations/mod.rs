//! Links over HTTP, for programs: anyone can list them and look them up, and anyone with a token can
//! register them.
//!
//! Registration is off unless it is configured. Registrations are pushed to the repository that the server
//! follows; there they are reviewed, reverted or edited like anything else.
//!
//! Invariants: state is kept only in Git, so nothing is lost with a server; a link that was
//! answered as created is in the remote's branch and live here; serving threads never wait; nothing
//! a client sends is logged, and no token is stored.

mod idempotency;
mod lookup;
mod openapi;
mod outcome;
mod problem_type;
mod queue;
mod request;
mod response;
mod tokens;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::time::timeout;

use crate::mapping::Timestamp;
use crate::registry::Registrar;

use super::http::{Answered, Content, Counts, bad_request, request as head};
use super::links::{self, JSON_VARIANT};
use super::reload::Reloads;
use super::state::{RegistrationResult, Shared};

use self::idempotency::{IdempotencyMemory, KeyState};
use self::lookup::{LinkQuery, site_of};
use self::problem_type::ProblemType;
use self::queue::{RegistrationQueue, Worker};
use self::request::{BodyError, RegistrationBody};
use self::response::{ApiResponse, ProblemDetails};
use self::tokens::Bearer;

pub(crate) use self::request::MAX_TEXT;
pub use self::request::PrivateUrls;
pub use self::tokens::{TokenFile, TokensError};

/// The path where links are registered and, with a slash and a code appended, looked up.
const LINKS: &str = "/-/api/links";

/// The path of the service's description.
const OPENAPI: &str = "/-/api/openapi.json";

/// The largest body that is read, in bytes.
const MAX_BODY: usize = 64 * 1024;

/// How long a body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client waits for an answer: shorter than the usual timeouts of clients, proxies and
/// our own idle connections. A queued registration continues.
const TIMEOUT: Duration = Duration::from_secs(55);

/// A registration service that has not started yet.
pub struct Registrations {
    tokens: Arc<TokenFile>,
    queue: RegistrationQueue,
    worker: Worker,
    private: PrivateUrls,
}

/// The service as requests see it.
pub(super) struct Service {
    tokens: Arc<TokenFile>,
    queue: RegistrationQueue,
    memory: IdempotencyMemory,
    private: PrivateUrls,
}

/// Returns the outcome of the registration that gets this answer.
fn ended(answer: &ApiResponse) -> RegistrationResult {
    match answer.status {
        StatusCode::CREATED => RegistrationResult::Created,
        StatusCode::OK => RegistrationResult::Existing,
        _ if answer.kind == Some(ProblemType::AlreadyRegistered) => RegistrationResult::Existing,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => RegistrationResult::Unauthorized,
        StatusCode::TOO_MANY_REQUESTS => RegistrationResult::Limited,
        status if status.is_server_error() => RegistrationResult::Failed,
        _ => RegistrationResult::Refused,
    }
}

impl Registrations {
    /// Lets anyone with a token register through a registrar.
    pub fn new(tokens: TokenFile, registrar: Registrar) -> Self {
        let (queue, worker) = queue::queue(registrar);
        Self {
            tokens: Arc::new(tokens),
            queue,
            worker,
            private: PrivateUrls::Accepted,
        }
    }

    /// Decides on URLs with a private address.
    #[must_use]
    pub fn with_private_urls(self, private: PrivateUrls) -> Self {
        Self { private, ..self }
    }

    /// Returns the service, and the work to run beside it for as long as it is used.
    pub(super) fn begin(
        self,
        shared: Arc<Shared>,
        reloads: Reloads,
    ) -> (Service, impl Future<Output = ()> + Send + 'static) {
        let tokens = Arc::clone(&self.tokens);
        let work = async move {
            tokio::join!(tokens.follow(), self.worker.run(shared, reloads));
        };
        let service = Service {
            tokens: self.tokens,
            queue: self.queue,
            memory: IdempotencyMemory::default(),
            private: self.private,
        };
        (service, work)
    }
}

/// Returns whether a request is for links as programs see them.
pub(super) fn is_addressed<B>(request: &Request<B>) -> bool {
    let path = request.uri().path();
    let is_link = |path: &str| path.is_empty() || path.starts_with('/');
    path == OPENAPI || path.strip_prefix(LINKS).is_some_and(is_link)
}

/// Answers such a request, if links can be registered by a service, and counts it.
pub(super) async fn answer(
    service: Option<&Service>,
    shared: &Shared,
    counts: &Counts,
    request: Request<Incoming>,
) -> Response<Content> {
    if head::read(&request).is_err() {
        counts.count(Answered::BadRequest);
        return bad_request();
    }
    let registers = *request.method() == Method::POST && request.uri().path() == LINKS;
    let response = match service.filter(|_| registers) {
        Some(service) => {
            let answer = service.register(shared, request).await;
            shared.metrics.registered(ended(&answer));
            answer.into_response()
        }
        None => {
            // Its content is dropped only once it is answered.
            let (head, _content) = request.into_parts();
            let request = Request::from_parts(head, ());
            let read = read(service, shared, &request).await;
            read.unwrap_or_else(|kind| kind.answer().into_response())
        }
    };
    // Without a duration, which would be the remote's or a search's and not a redirect's.
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
    request: &Request<()>,
) -> Result<Response<Content>, ProblemType> {
    let path = request.uri().path();
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut answer = ProblemType::MethodNotAllowed.answer();
        let allowed = match path {
            LINKS if service.is_some() => "GET, HEAD, POST",
            _ => "GET, HEAD",
        };
        answer.add(ALLOW, HeaderValue::from_static(allowed));
        return Ok(answer.into_response());
    }
    if path == OPENAPI {
        return Ok(openapi::answer().into_response());
    }
    let bearer = service.and_then(|service| service.bearer(request.headers()));
    if shared.dumps.is_none() && bearer.is_none() {
        return Err(ProblemType::Unauthorized);
    }
    let live = shared.live.load_full().ok_or(ProblemType::NoTable)?;
    let code = path.strip_prefix(LINKS).and_then(|it| it.strip_prefix('/'));
    let sought = LinkQuery::read(code, request.uri().query())?;
    let host = head::read(request).ok().and_then(|asked| asked.host);
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

impl Service {
    async fn register(&self, shared: &Shared, request: Request<Incoming>) -> ApiResponse {
        let (head, body) = request.into_parts();
        let admitted = match self.admit(shared, &head.headers) {
            Ok(bearer) => bearer,
            Err(kind) => {
                let mut answer = kind.answer();
                // The unread rest of a body must not be taken for the next request.
                answer.add(CONNECTION, HeaderValue::from_static("close"));
                return answer;
            }
        };
        let (bearer, key) = admitted;
        let body = match read_body(body).await {
            Ok(body) => body,
            Err(kind) => return kind.answer(),
        };
        let RegistrationBody {
            mut request,
            get_or_create,
        } = match RegistrationBody::read(&body, self.private) {
            Ok(asked) => asked,
            Err(BodyError::Malformed) => return ProblemType::Malformed.answer(),
            Err(BodyError::Invalid(findings)) => {
                return ProblemDetails::invalid(None, findings).into();
            }
        };
        request
            .owner
            .get_or_insert_with(|| bearer.owner.to_string());
        if request.site.is_none() {
            let host = head.uri.host();
            let host = host.or_else(|| head.headers.get(hyper::header::HOST)?.to_str().ok());
            let live = shared.live.load();
            let site = live
                .as_ref()
                .and_then(|live| site_of(&live.table, None, host));
            request.site = site.map(|site| site.base_url().as_str().to_owned());
        }
        let ticket = match key {
            None => None,
            Some(key) => match self.memory.begin(&bearer, key, &body, Instant::now()) {
                KeyState::New(ticket) => Some(ticket),
                KeyState::UnderWay => return ProblemType::UnderWay.answer(),
                KeyState::Answered(answer) => return *answer,
                KeyState::Differs => return ProblemType::KeyReused.answer(),
            },
        };
        let answer = match self.queue.put(request, bearer.owner, get_or_create, ticket) {
            Ok(answer) => answer,
            Err(kind) => return kind.answer(),
        };
        match timeout(TIMEOUT, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => ProblemType::Failed.answer(),
            Err(_) => ProblemType::NotLive.answer(),
        }
    }

    /// Checks all of a registration but its body.
    fn admit<'r>(
        &self,
        shared: &Shared,
        headers: &'r HeaderMap,
    ) -> Result<(Bearer, Option<&'r [u8]>), ProblemType> {
        // A page is another party's program in its reader's browser, even with a valid token.
        if head::is_from_a_page(headers) {
            return Err(ProblemType::FromPage);
        }
        let bearer = self.bearer(headers).ok_or(ProblemType::Unauthorized)?;
        if !is_json(headers) {
            return Err(ProblemType::MediaType);
        }
        let key = idempotency::key(headers).map_err(|()| ProblemType::BadKey)?;
        if shared.lifecycle.is_draining() {
            return Err(ProblemType::Draining);
        }
        Ok((bearer, key))
    }

    /// Returns the sender of a request (RFC 6750 section 2.1).
    fn bearer(&self, headers: &HeaderMap) -> Option<Bearer> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (value, None) = (values.next()?.as_bytes(), values.next()) else {
            return None;
        };
        let (scheme, token) = value.split_at_checked("Bearer ".len())?;
        let is_bearer = scheme.eq_ignore_ascii_case(b"Bearer ");
        is_bearer.then(|| self.tokens.bearer(token.trim_ascii()))?
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    value.is_some_and(|value| {
        let essence = value.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case("application/json")
    })
}

async fn read_body(body: Incoming) -> Result<Bytes, ProblemType> {
    match timeout(BODY_TIMEOUT, Limited::new(body, MAX_BODY).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(ProblemType::TooLarge),
        Ok(Err(_)) => Err(ProblemType::Malformed),
        Err(_) => Err(ProblemType::TooSlow),
    }
}
