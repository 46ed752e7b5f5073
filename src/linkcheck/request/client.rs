//! Sends one request at a time, over HTTP/1.1, and keeps nothing that a host sends but the reply.
//!
//! No redirect is followed, no content decompressed, no cookie kept and no credential sent.
//! Everything that a host sends is bounded in size and time.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response};
use thiserror::Error;
use tokio::time::{Instant, timeout, timeout_at};
use url::{Position, Url};

use super::connection::{Connection, Connector};
use super::tls::{Trust, wants_certificate};
use super::wall::is_wall;
use super::{Failure, Reply, Resolve, RoundTrip, Scope, WebUrl};
use crate::linkcheck::polite::retry_after;

/// How much of a page is read, in bytes.
pub const MAX_PAGE_BYTES: usize = 64 << 10;

/// How long a connection may take to end its last reply, after that was read, before it is
/// abandoned.
const MAX_SETTLING: Duration = Duration::from_secs(1);

/// The timeouts of the parts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Looking the name up; connecting; the TLS handshake.
    pub connect: Duration,
    /// From the request to the end of the reply's head.
    pub head: Duration,
    /// The whole request.
    pub whole: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            head: Duration::from_secs(20),
            whole: Duration::from_secs(30),
        }
    }
}

/// The User-Agent of Waypost: its name and version, and a contact of its operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserAgent(HeaderValue);

/// A contact that cannot be sent: it must be visible ASCII without parentheses and backslashes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "the contact {contact:?} must be printable ASCII without parentheses: give a URL or email address"
)]
pub struct InvalidContact {
    /// The contact.
    pub contact: String,
}

impl UserAgent {
    /// Names Waypost and, if there is one, a contact: a URL or a mail address.
    ///
    /// # Errors
    ///
    /// Fails if the contact cannot be part of a comment (RFC 9110, section 5.6.5).
    pub fn new(contact: Option<&str>) -> Result<Self, InvalidContact> {
        const PRODUCT: &str = concat!("waypost/", env!("CARGO_PKG_VERSION"));
        let Some(contact) = contact else {
            return Ok(Self(HeaderValue::from_static(PRODUCT)));
        };
        let invalid = || InvalidContact {
            contact: contact.to_owned(),
        };
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'(' | b')' | b'\\');
        if contact.is_empty() || !contact.bytes().all(is_plain) {
            return Err(invalid());
        }
        let value = HeaderValue::try_from(format!("{PRODUCT} (+{contact})"));
        value.map(Self).map_err(|_| invalid())
    }
}

/// One request to a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The URL.
    pub url: WebUrl,
    /// Whether the page is requested, and not only its head.
    pub wants_body: bool,
    /// How much of the page is read, in bytes.
    pub max_body_bytes: usize,
    /// Whether it must use a new connection.
    pub wants_fresh: bool,
}

/// Sends requests to hosts.
pub struct RequestClient {
    resolver: Arc<dyn Resolve>,
    trust: Trust,
    user_agent: UserAgent,
    scope: Scope,
    limits: Limits,
}

impl RequestClient {
    /// Returns a client for global addresses, with the default limits.
    pub fn new(resolver: Arc<dyn Resolve>, trust: Trust, user_agent: UserAgent) -> Self {
        Self {
            resolver,
            trust,
            user_agent,
            scope: Scope::default(),
            limits: Limits::default(),
        }
    }

    /// Sets the permitted addresses.
    #[must_use]
    pub fn in_scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Sets the timeouts of the parts of a request.
    #[must_use]
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Begins a session with one host, while it is reserved.
    pub fn session(&self) -> Session<'_> {
        Session {
            client: self,
            open: None,
        }
    }
}

/// Requests to one host, over one connection while it lasts.
pub struct Session<'c> {
    client: &'c RequestClient,
    open: Option<HostConnection>,
}

/// A connection, and where it leads.
struct HostConnection {
    connection: Connection,
    scheme: String,
    authority: String,
}

impl Session<'_> {
    /// Sends a request, over a new connection if it requires one or none is usable.
    ///
    /// It is sent once: nothing is repeated, because a pause must follow each request.
    pub async fn send(&mut self, question: &Question) -> RoundTrip {
        let url = question.url.url();
        let used = match self.open.take() {
            Some(open) if !question.wants_fresh => open.if_usable(url).await,
            _ => None,
        };
        let begun = Instant::now();
        let deadline = begun + self.client.limits.whole;
        let is_fresh = used.is_none();
        let failed = |failure| RoundTrip {
            result: Err(failure),
            took: begun.elapsed(),
            is_fresh,
        };
        let mut open = match used {
            Some(open) => open,
            None => match self.connect(url, deadline).await {
                Ok(open) => open,
                Err(failure) => return failed(failure),
            },
        };
        let Ok(request) = request(question, &self.client.user_agent) else {
            return failed(Failure::Local);
        };
        let sent = Instant::now();
        let head_deadline = deadline.min(sent + self.client.limits.head);
        let answered = open.connection.sender.send_request(request);
        let result = match timeout_at(head_deadline, answered).await {
            Err(_) => Err(Failure::AnswerTimeout),
            Ok(Err(error)) if wants_certificate(&error) => Err(Failure::ClientCertificate),
            Ok(Err(error)) => Err(Failure::of_request(&error)),
            Ok(Ok(response)) => Ok(read(response, question.max_body_bytes, deadline).await),
        };
        if matches!(&result, Ok(reply) if reply.is_whole) {
            self.open = Some(open);
        }
        RoundTrip {
            result,
            took: sent.elapsed(),
            is_fresh,
        }
    }

    async fn connect(&self, url: &Url, deadline: Instant) -> Result<HostConnection, Failure> {
        let connector = Connector {
            resolver: &*self.client.resolver,
            trust: &self.client.trust,
            scope: self.client.scope,
            limit: self.client.limits.connect,
            deadline,
        };
        Ok(HostConnection {
            connection: connector.connect(url).await?,
            scheme: url.scheme().to_owned(),
            authority: url.authority().to_owned(),
        })
    }
}

impl HostConnection {
    /// Returns itself if it is connected to the host of a URL and ready for a request.
    async fn if_usable(mut self, url: &Url) -> Option<Self> {
        if self.scheme != url.scheme() || self.authority != url.authority() {
            return None;
        }
        let ready = timeout(MAX_SETTLING, self.connection.sender.ready()).await;
        matches!(ready, Ok(Ok(()))).then_some(self)
    }
}

/// Returns the HTTP request for a question.
fn request(
    question: &Question,
    user_agent: &UserAgent,
) -> Result<Request<Empty<Bytes>>, hyper::http::Error> {
    let url = question.url.url();
    let method = if question.wants_body {
        Method::GET
    } else {
        Method::HEAD
    };
    let host = &url[Position::BeforeHost..Position::AfterPort];
    Request::builder()
        .method(method)
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .header(header::HOST, host)
        .header(header::USER_AGENT, &user_agent.0)
        .header(header::ACCEPT, "*/*")
        .header(header::ACCEPT_ENCODING, "identity")
        .body(Empty::new())
}

/// Reads a reply, and the part of its body that fits and arrives in time.
async fn read(response: Response<Incoming>, max_body_bytes: usize, deadline: Instant) -> Reply {
    let (head, mut incoming) = response.into_parts();
    let mut body = Vec::new();
    let is_whole = loop {
        match timeout_at(deadline, incoming.frame()).await {
            Ok(None) => break true,
            Ok(Some(Ok(frame))) => {
                let data = frame.into_data().unwrap_or_default();
                let room = max_body_bytes - body.len();
                body.extend_from_slice(&data[..data.len().min(room)]);
                if data.len() > room {
                    break false;
                }
            }
            // The page exists, even if not all of it arrives.
            Ok(Some(Err(_))) | Err(_) => break false,
        }
    };
    let status = head.status.as_u16();
    let fields = &head.headers;
    let wait = text(fields, &header::RETRY_AFTER);
    Reply {
        status,
        location: text(fields, &header::LOCATION),
        retry_after: wait.and_then(|value| retry_after(&value, SystemTime::now())),
        is_wall: is_wall(status, fields),
        sets_cookie: fields.contains_key(header::SET_COOKIE),
        body: body.into(),
        is_whole,
    }
}

/// Returns a field's value as text: UTF-8, or else each byte as a character, as browsers do.
fn text(fields: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = fields.get(name)?.as_bytes();
    let of_bytes = |_| value.iter().copied().map(char::from).collect();
    Some(str::from_utf8(value).map_or_else(of_bytes, str::to_owned))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_client_introduces_itself() {
        let agent = UserAgent::new(None).unwrap();
        assert_eq!(agent.0, concat!("waypost/", env!("CARGO_PKG_VERSION")));
        let agent = UserAgent::new(Some("https://links.example/contact")).unwrap();
        let text = agent.0.to_str().unwrap();
        assert!(
            text.ends_with(" (+https://links.example/contact)"),
            "{text}"
        );
        for contact in ["", "a b", "a\r\nCookie: x", "a)", "\\", "ä@e.example"] {
            assert!(UserAgent::new(Some(contact)).is_err(), "{contact:?}");
        }
    }
    proptest! {
        #[test]
        fn any_url_can_be_requested(rest in "(/|[?])\\PC{0,40}|/[!-~]{0,40}") {
            let Ok(url) = WebUrl::parse(&format!("https://e.example{rest}")) else {
                return Err(TestCaseError::reject("no URL"));
            };
            let question = Question {
                url: url.clone(),
                wants_body: true,
                max_body_bytes: 0,
                wants_fresh: false,
            };
            let request = request(&question, &UserAgent::new(None).unwrap()).unwrap();
            let sent = &url.url()[Position::BeforePath..Position::AfterQuery];
            prop_assert_eq!(request.uri().to_string(), sent);
        }
    }
}
