//! The problem types of changes and lookups.

use hyper::StatusCode;

use crate::registry::{PublishError, RegistrarError};

/// A problem type (RFC 9457, section 3.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProblemType {
    Malformed,
    BadKey,
    BadQuery,
    Unauthorized,
    FromPage,
    NotOwned,
    NotFound,
    MethodNotAllowed,
    TooSlow,
    AlreadyRegistered,
    CodeTaken,
    UnderWay,
    PreconditionFailed,
    TooLarge,
    MediaType,
    Invalid,
    Shadowing,
    KeyReused,
    PreconditionRequired,
    TooMany,
    Failed,
    RemoteRefused,
    Full,
    Busy,
    Draining,
    NoTable,
    RemoteDown,
    NotLive,
}

impl ProblemType {
    /// All problem types, which the description of the service lists.
    #[cfg(test)]
    pub(super) const ALL: [Self; 28] = [
        Self::Malformed,
        Self::BadKey,
        Self::BadQuery,
        Self::Unauthorized,
        Self::FromPage,
        Self::NotOwned,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::TooSlow,
        Self::AlreadyRegistered,
        Self::CodeTaken,
        Self::UnderWay,
        Self::PreconditionFailed,
        Self::TooLarge,
        Self::MediaType,
        Self::Invalid,
        Self::Shadowing,
        Self::KeyReused,
        Self::PreconditionRequired,
        Self::TooMany,
        Self::Failed,
        Self::RemoteRefused,
        Self::Full,
        Self::Busy,
        Self::Draining,
        Self::NoTable,
        Self::RemoteDown,
        Self::NotLive,
    ];

    /// Returns the problem for clients if no decision was possible.
    pub(super) fn of_registrar(error: &RegistrarError) -> Self {
        match error {
            RegistrarError::Table(_)
            | RegistrarError::InDoubt
            | RegistrarError::Publish(PublishError::Table(_)) => Self::NoTable,
            RegistrarError::Publish(PublishError::Refused { .. }) => Self::RemoteRefused,
            _ => Self::RemoteDown,
        }
    }

    /// Returns its status.
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Malformed | Self::BadKey | Self::BadQuery => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::FromPage | Self::NotOwned => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::AlreadyRegistered | Self::CodeTaken | Self::UnderWay => StatusCode::CONFLICT,
            Self::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Invalid | Self::Shadowing | Self::KeyReused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::PreconditionRequired => StatusCode::PRECONDITION_REQUIRED,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
            Self::RemoteRefused => StatusCode::BAD_GATEWAY,
            Self::Full
            | Self::Busy
            | Self::Draining
            | Self::NoTable
            | Self::RemoteDown
            | Self::NotLive => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the last segment of its URI.
    fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::BadKey => "bad-idempotency-key",
            Self::BadQuery => "bad-query",
            Self::Unauthorized => "unauthorized",
            Self::FromPage => "from-a-page",
            Self::NotOwned => "not-owned",
            Self::NotFound => "not-found",
            Self::MethodNotAllowed => "method-not-allowed",
            Self::TooSlow => "too-slow",
            Self::AlreadyRegistered => "already-registered",
            Self::CodeTaken => "code-taken",
            Self::UnderWay => "under-way",
            Self::PreconditionFailed => "precondition-failed",
            Self::TooLarge => "too-large",
            Self::MediaType => "media-type",
            Self::Invalid => "invalid",
            Self::Shadowing => "shadowing",
            Self::KeyReused => "idempotency-key-reused",
            Self::PreconditionRequired => "precondition-required",
            Self::TooMany => "too-many",
            Self::Failed => "failed",
            Self::RemoteRefused => "remote-refused",
            Self::Full => "full",
            Self::Busy => "busy",
            Self::Draining => "draining",
            Self::NoTable => "no-table",
            Self::RemoteDown => "remote-down",
            Self::NotLive => "not-live",
        }
    }

    /// Returns its title.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Malformed => "The body is not JSON",
            Self::BadKey => "The Idempotency-Key is not one of up to 255 visible characters",
            Self::BadQuery => {
                "The query has a parameter that is unknown, invalid, too long or repeated"
            }
            Self::Unauthorized => "A valid token is required",
            Self::FromPage => "Pages in a browser may not change links",
            Self::NotOwned => "The link belongs to another owner",
            Self::NotFound => "There is no such link",
            Self::MethodNotAllowed => "The method is not allowed here",
            Self::TooSlow => "The body did not arrive in time",
            Self::AlreadyRegistered => "ERR-000-02-00: URL already registered",
            Self::CodeTaken => "The code is taken",
            Self::UnderWay => "A request with the same Idempotency-Key is still in progress",
            Self::PreconditionFailed => "The link has changed since its ETag was read",
            Self::TooLarge => "The body is larger than 64 KiB",
            Self::MediaType => "The body has another media type",
            Self::Invalid => "The request is refused",
            Self::Shadowing => "The code would change where a path of another owner's link leads",
            Self::KeyReused => "The Idempotency-Key was used for another body",
            Self::PreconditionRequired => "If-Match with the ETag of the link is required",
            Self::TooMany => "Too many changes of this owner are in progress",
            Self::Failed => "The change failed",
            Self::RemoteRefused => "The repository refused the change",
            Self::Full => "Too many changes are in progress",
            Self::Busy => "Too many searches are in progress",
            Self::Draining => "The server is about to stop",
            Self::NoTable => "There is no table without errors",
            Self::RemoteDown => {
                "The change cannot be pushed now: as far as the server knows, nothing was changed"
            }
            Self::NotLive => {
                "The change may have been made, but is not served here yet: repeat the request"
            }
        }
    }

    /// Returns its URI.
    pub(super) fn uri(self) -> String {
        format!("urn:waypost:problem:{}", self.name())
    }

    /// Returns when to retry, in seconds, if that is likely to help.
    pub(super) fn retry_after(self) -> Option<&'static str> {
        match self {
            Self::UnderWay | Self::TooMany | Self::Full | Self::Busy => Some("1"),
            Self::Draining | Self::NoTable | Self::RemoteDown | Self::NotLive => Some("5"),
            _ => None,
        }
    }
}
