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

    /// Returns the problem of clients if nothing could be decided.
    pub(super) fn of_registrar(error: &RegistrarError) -> Self {
        match error {
            RegistrarError::Table(_)
            | RegistrarError::InDoubt
            | RegistrarError::Publish(PublishError::Table(_)) => Self::NoTable,
            RegistrarError::Publish(PublishError::Refused { .. }) => Self::RemoteRefused,
            _ => Self::RemoteDown,
        }
    }

    /// Returns its status, the last segment of its URI, and its title.
    pub(super) fn parts(self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        match self {
            Self::Malformed => (S::BAD_REQUEST, "malformed", "The body is not JSON"),
            Self::BadKey => (
                S::BAD_REQUEST,
                "bad-idempotency-key",
                "The Idempotency-Key is not one of up to 255 visible characters",
            ),
            Self::BadQuery => (
                S::BAD_REQUEST,
                "bad-query",
                "The query has a parameter that is unknown, invalid, too long or there twice",
            ),
            Self::Unauthorized => (S::UNAUTHORIZED, "unauthorized", "A valid token is needed"),
            Self::FromPage => (
                S::FORBIDDEN,
                "from-a-page",
                "Pages in a browser may not change links",
            ),
            Self::NotOwned => (
                S::FORBIDDEN,
                "not-owned",
                "The link belongs to another owner",
            ),
            Self::NotFound => (S::NOT_FOUND, "not-found", "There is no such link"),
            Self::MethodNotAllowed => (
                S::METHOD_NOT_ALLOWED,
                "method-not-allowed",
                "The method is not allowed here",
            ),
            Self::TooSlow => (
                S::REQUEST_TIMEOUT,
                "too-slow",
                "The body took too long to come",
            ),
            Self::AlreadyRegistered => (
                S::CONFLICT,
                "already-registered",
                "ERR-000-02-00: URL already registered",
            ),
            Self::CodeTaken => (S::CONFLICT, "code-taken", "The code is taken"),
            Self::UnderWay => (
                S::CONFLICT,
                "under-way",
                "A request of the same Idempotency-Key is still under way",
            ),
            Self::PreconditionFailed => (
                S::PRECONDITION_FAILED,
                "precondition-failed",
                "The link has changed since its ETag was read",
            ),
            Self::TooLarge => (
                S::PAYLOAD_TOO_LARGE,
                "too-large",
                "The body is larger than 64 KiB",
            ),
            Self::MediaType => (
                S::UNSUPPORTED_MEDIA_TYPE,
                "media-type",
                "The body is of another media type",
            ),
            Self::Invalid => (S::UNPROCESSABLE_ENTITY, "invalid", "The request is refused"),
            Self::Shadowing => (
                S::UNPROCESSABLE_ENTITY,
                "shadowing",
                "The code would change where a path of another owner's link leads",
            ),
            Self::KeyReused => (
                S::UNPROCESSABLE_ENTITY,
                "idempotency-key-reused",
                "The Idempotency-Key was used for another body",
            ),
            Self::PreconditionRequired => (
                S::PRECONDITION_REQUIRED,
                "precondition-required",
                "If-Match with the ETag of the link is needed",
            ),
            Self::TooMany => (
                S::TOO_MANY_REQUESTS,
                "too-many",
                "Too many changes of this owner are under way",
            ),
            Self::Failed => (S::INTERNAL_SERVER_ERROR, "failed", "The change failed"),
            Self::RemoteRefused => (
                S::BAD_GATEWAY,
                "remote-refused",
                "The repository did not take the change",
            ),
            Self::Full => (
                S::SERVICE_UNAVAILABLE,
                "full",
                "Too many changes are under way",
            ),
            Self::Busy => (
                S::SERVICE_UNAVAILABLE,
                "busy",
                "Too many searches are under way",
            ),
            Self::Draining => (
                S::SERVICE_UNAVAILABLE,
                "draining",
                "The server is about to stop",
            ),
            Self::NoTable => (
                S::SERVICE_UNAVAILABLE,
                "no-table",
                "There is no table without errors",
            ),
            Self::RemoteDown => (
                S::SERVICE_UNAVAILABLE,
                "remote-down",
                "The repository cannot be reached: nothing was changed, as far as is known",
            ),
            Self::NotLive => (
                S::SERVICE_UNAVAILABLE,
                "not-live",
                "The change may be made, but is not served here yet: ask again",
            ),
        }
    }

    /// Returns its URI.
    pub(super) fn uri(self) -> String {
        format!("urn:waypost:problem:{}", self.parts().1)
    }

    /// Returns its status.
    pub(super) fn status(self) -> StatusCode {
        self.parts().0
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
