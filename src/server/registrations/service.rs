//! Requests that change links: their sender, the requested change, and the wait for the queue's
//! answer.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request};
use tokio::time::timeout;

use crate::mapping::{Target, Timestamp, WrittenDate};
use crate::registry::{
    EditRight, EntryEdit, EntryValue, ExpectedContent, MayShadow, RegistrationRequest,
    SubmittedChange,
};
use crate::server::http::{Unread, body, request as head};
use crate::server::state::{RegistrationResult, Shared};

use super::body::{BodyError, PrivateUrls};
use super::existing_link::ExistingLink;
use super::idempotency::{self, IdempotencyMemory, KeyState, Ticket};
use super::lookup::{decoded, site_named, site_of};
use super::outcome;
use super::problem_type::ProblemType;
use super::queue::RegistrationQueue;
use super::request::RegistrationBody;
use super::response::{ApiResponse, ProblemDetails};
use super::review::{NotSent, ReviewQueue, SentLink};
use super::tokens::{Bearer, TokenFile};
use super::{edit_body, preconditions};

/// How long a client waits for an answer: shorter than the usual timeouts of clients, proxies and
/// our own idle connections. A queued change continues.
const TIMEOUT: Duration = Duration::from_secs(55);

/// The media type of a registration; an edit may have it as well.
const JSON: &str = "application/json";

/// The media type of an edit (RFC 7396 section 4).
pub(super) const MERGE_PATCH: &str = "application/merge-patch+json";

/// The service that answers requests.
pub(crate) struct Service {
    pub(super) tokens: Arc<TokenFile>,
    pub(super) queue: RegistrationQueue,
    pub(super) memory: IdempotencyMemory,
    pub(super) private: PrivateUrls,
    pub(super) reviews: ReviewQueue,
}

/// A request that changes links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation<'r> {
    /// A new link.
    Register,
    /// An edit of the entry with this code, which is still percent-encoded.
    Edit(&'r str),
    /// The retirement of the entry with this code.
    Retire(&'r str),
}

/// The contents of an admitted request's head; codes are still percent-encoded.
enum Admitted<'r> {
    Register {
        /// Its `Idempotency-Key`.
        key: Option<&'r [u8]>,
    },
    Edit {
        link: &'r str,
        expected: ExpectedContent,
    },
    Retire {
        link: &'r str,
        expected: ExpectedContent,
    },
}

/// The entry that a request addresses.
struct Addressed<'r> {
    /// Its code, which is still percent-encoded.
    link: &'r str,
    host: Option<&'r str>,
    query: Option<&'r str>,
}

impl<'r> Operation<'r> {
    /// Returns the change that a method requests, of all links or of the one with a code.
    pub(super) fn of(method: &Method, code: Option<&'r str>) -> Option<Self> {
        match (method, code) {
            (&Method::POST, None) => Some(Self::Register),
            (&Method::PATCH, Some(code)) => Some(Self::Edit(code)),
            (&Method::DELETE, Some(code)) => Some(Self::Retire(code)),
            _ => None,
        }
    }

    /// Returns the outcome that the metrics count for an answer to it.
    pub(super) fn result(self, answer: &ApiResponse) -> RegistrationResult {
        use hyper::StatusCode as S;
        match answer.status {
            S::CREATED => RegistrationResult::Created,
            S::OK if self != Self::Register => RegistrationResult::Edited,
            S::OK => RegistrationResult::Existing,
            _ if self == Self::Register && answer.kind == Some(ProblemType::AlreadyRegistered) => {
                RegistrationResult::Existing
            }
            S::UNAUTHORIZED | S::FORBIDDEN => RegistrationResult::Unauthorized,
            S::TOO_MANY_REQUESTS => RegistrationResult::Limited,
            status if status.is_server_error() => RegistrationResult::Failed,
            _ => RegistrationResult::Refused,
        }
    }
}

impl Service {
    /// Applies a change, and returns the answer to its request.
    pub(super) async fn change(
        &self,
        operation: Operation<'_>,
        shared: &Shared,
        host: Option<&str>,
        request: Request<Incoming>,
    ) -> ApiResponse {
        let (head, body) = request.into_parts();
        let (bearer, admitted) = match self.admit(operation, shared, &head.headers) {
            Ok(admitted) => admitted,
            Err(kind) => {
                let mut answer = kind.answer();
                // The unread rest of a body must not be taken for the next request.
                answer.add(CONNECTION, HeaderValue::from_static("close"));
                return answer;
            }
        };
        let query = head.uri.query();
        let changed = match admitted {
            Admitted::Register { key } => self.register(bearer, shared, host, key, body).await,
            Admitted::Edit { link, expected } => {
                let place = Addressed { link, host, query };
                self.edit(bearer, shared, place, expected, body).await
            }
            Admitted::Retire { link, expected } => {
                let place = Addressed { link, host, query };
                self.retire(bearer, shared, place, expected).await
            }
        };
        changed.unwrap_or_else(|refused| refused)
    }

    /// Sends a link for review, in the name of a token's owner, who becomes that of the link.
    pub(crate) async fn send_for_review(
        &self,
        shared: &Shared,
        token: &[u8],
        request: RegistrationRequest,
    ) -> Result<SentLink, NotSent> {
        let bearer = self.tokens.bearer(token).ok_or(NotSent::Unauthorized)?;
        let target = Target::parse(&request.url);
        if self.private == PrivateUrls::Refused && target.is_ok_and(|it| it.is_private()) {
            return Err(NotSent::Private);
        }
        let owner = bearer.owner.to_string();
        let request = RegistrationRequest {
            owner: Some(owner.clone()),
            ..request
        };
        let fleet = shared.fleet.as_ref();
        let branch = self.reviews.send(fleet, request, bearer.owner).await?;
        Ok(SentLink { branch, owner })
    }

    /// Checks a request, except for its body and anything that depends on the table; returns its
    /// sender, and the contents of its head.
    fn admit<'r>(
        &self,
        operation: Operation<'r>,
        shared: &Shared,
        headers: &'r HeaderMap,
    ) -> Result<(Bearer, Admitted<'r>), ProblemType> {
        // A page is a program of another party in its reader's browser, even with a valid token.
        if head::is_from_a_page(headers) {
            return Err(ProblemType::FromPage);
        }
        let bearer = self.bearer(headers).ok_or(ProblemType::Unauthorized)?;
        let is_known = match operation {
            Operation::Register => is_of(headers, &[JSON]),
            Operation::Edit(_) => is_of(headers, &[MERGE_PATCH, JSON]),
            Operation::Retire(_) => true,
        };
        if !is_known {
            return Err(ProblemType::MediaType);
        }
        let admitted = match operation {
            Operation::Register => Admitted::Register {
                key: idempotency::key(headers).map_err(|()| ProblemType::BadKey)?,
            },
            Operation::Edit(link) => Admitted::Edit {
                link,
                expected: preconditions::expected(headers)?,
            },
            Operation::Retire(link) => Admitted::Retire {
                link,
                expected: preconditions::expected(headers)?,
            },
        };
        match shared.lifecycle.is_draining() {
            true => Err(ProblemType::Draining),
            false => Ok((bearer, admitted)),
        }
    }

    /// Returns the sender of a request (RFC 6750 section 2.1).
    pub(super) fn bearer(&self, headers: &HeaderMap) -> Option<Bearer> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (value, None) = (values.next()?.as_bytes(), values.next()) else {
            return None;
        };
        let (scheme, token) = value.split_at_checked("Bearer ".len())?;
        let is_bearer = scheme.eq_ignore_ascii_case(b"Bearer ");
        is_bearer.then(|| self.tokens.bearer(token.trim_ascii()))?
    }

    async fn register(
        &self,
        bearer: Bearer,
        shared: &Shared,
        host: Option<&str>,
        key: Option<&[u8]>,
        body: Incoming,
    ) -> Result<ApiResponse, ApiResponse> {
        let body = read_body(body).await?;
        let RegistrationBody {
            mut request,
            get_or_create,
        } = RegistrationBody::read(&body, self.private).map_err(invalid)?;
        request
            .owner
            .get_or_insert_with(|| bearer.owner.to_string());
        if request.site.is_none() {
            let live = shared.live.load();
            let site = live.as_ref();
            let site = site.and_then(|live| site_of(&live.table, None, host));
            request.site = site.map(|site| site.base_url().as_str().to_owned());
        }
        let fleet = shared.fleet.as_ref();
        let mut existing = ExistingLink {
            get_or_create,
            registered: None,
        };
        let ticket = match key {
            None => None,
            Some(key) => match self.memory.begin_in(fleet, &bearer, key, &body).await {
                KeyState::New(ticket) => Some(ticket),
                KeyState::Registered(ticket, link) => {
                    let live = shared.live.load_full();
                    let now = Timestamp::from(SystemTime::now());
                    let repeated =
                        live.and_then(|live| outcome::repeated(&link, &request.url, &live, now));
                    if let Some(answer) = repeated {
                        ticket.answered(&answer);
                        return Ok(answer);
                    }
                    // It may not be live here yet; either the branch has it, or it is registered
                    // again.
                    existing.registered = Some(link);
                    Some(ticket)
                }
                KeyState::UnderWay => return Err(ProblemType::UnderWay.answer()),
                KeyState::Answered(answer) => return Ok(*answer),
                KeyState::Differs => return Err(ProblemType::KeyReused.answer()),
            },
        };
        let change = SubmittedChange::Registration(request);
        self.submit(shared, change, &bearer, existing, ticket).await
    }

    async fn edit(
        &self,
        bearer: Bearer,
        shared: &Shared,
        place: Addressed<'_>,
        expected: ExpectedContent,
        body: Incoming,
    ) -> Result<ApiResponse, ApiResponse> {
        let body = read_body(body).await?;
        let values = edit_body::read(&body, self.private).map_err(invalid)?;
        let edit = place.edit(&bearer, shared, expected, values)?;
        let (change, existing) = (SubmittedChange::Edit(edit), ExistingLink::default());
        self.submit(shared, change, &bearer, existing, None).await
    }

    async fn retire(
        &self,
        bearer: Bearer,
        shared: &Shared,
        place: Addressed<'_>,
        expected: ExpectedContent,
    ) -> Result<ApiResponse, ApiResponse> {
        let today = WrittenDate::day_of(Timestamp::from(SystemTime::now()));
        let values = vec![EntryValue::RetiredBy(today)];
        let edit = place.edit(&bearer, shared, expected, values)?;
        let (change, existing) = (SubmittedChange::Edit(edit), ExistingLink::default());
        self.submit(shared, change, &bearer, existing, None).await
    }

    /// Queues a change, and waits for its answer.
    async fn submit(
        &self,
        shared: &Shared,
        change: SubmittedChange,
        bearer: &Bearer,
        existing: ExistingLink,
        ticket: Option<Ticket>,
    ) -> Result<ApiResponse, ApiResponse> {
        let by = Arc::clone(&bearer.owner);
        let fleet = shared.fleet.as_ref();
        let queued = self.queue.put(fleet, change, by, existing, ticket).await;
        let answer = queued.map_err(ProblemType::answer)?;
        match timeout(TIMEOUT, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(ProblemType::Failed.answer()),
            Err(_) => Err(ProblemType::NotLive.answer()),
        }
    }
}

impl Addressed<'_> {
    /// Returns the edit of the entry.
    fn edit(
        &self,
        bearer: &Bearer,
        shared: &Shared,
        expected: ExpectedContent,
        values: Vec<EntryValue>,
    ) -> Result<EntryEdit, ApiResponse> {
        let live = shared.live.load();
        let live = live.as_ref().ok_or_else(|| ProblemType::NoTable.answer())?;
        let named = site_named(self.query).map_err(ProblemType::answer)?;
        let site = site_of(&live.table, named.as_deref(), self.host);
        let (Some(site), Some(code)) = (site, decoded(self.link)) else {
            return Err(ProblemType::NotFound.answer());
        };
        Ok(EntryEdit {
            site: Some(site.base_url().as_str().to_owned()),
            link: code,
            right: match bearer.is_admin {
                true => EditRight::Any,
                false => EditRight::OwnedBy(Arc::clone(&bearer.owner)),
            },
            expected,
            values,
            // The registrar decides this.
            may_shadow: MayShadow::None,
            may_lose_aliases: false,
            may_share_target: false,
        })
    }
}

fn invalid(error: BodyError) -> ApiResponse {
    match error {
        BodyError::Malformed => ProblemType::Malformed.answer(),
        BodyError::Invalid(findings) => ProblemDetails::invalid(None, findings).into(),
    }
}

/// Returns whether a body is of one of these media types.
fn is_of(headers: &HeaderMap, media_types: &[&str]) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    value.is_some_and(|value| {
        let essence = value.split(';').next().unwrap_or_default().trim();
        media_types
            .iter()
            .any(|it| essence.eq_ignore_ascii_case(it))
    })
}

async fn read_body(body: Incoming) -> Result<Bytes, ApiResponse> {
    body::content(body).await.map_err(|unread| {
        let kind = match unread {
            Unread::TooLarge => ProblemType::TooLarge,
            Unread::TooSlow => ProblemType::TooSlow,
            Unread::Broken => ProblemType::Malformed,
        };
        kind.answer()
    })
}
