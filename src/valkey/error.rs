//! Why a call of a server failed.

use std::io;

use redis::{ErrorKind, RedisError, ServerErrorKind};
use thiserror::Error;

/// Codes of errors that end when the server has memory, its disk or its replicas again.
const SHORTAGES: [&str; 3] = ["OOM", "MISCONF", "NOREPLICAS"];

/// An error of a server, or of a connection to it.
///
/// Its text has those of its causes: it has no source, so that a chain does not repeat them.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct ServerError(RedisError);

/// Why a call failed; unless it was refused, the operation was done or not.
#[derive(Debug, Error)]
pub enum CallError {
    /// The server refused the user, the password, or an operation of the user.
    #[error("the server refuses this user or password")]
    Refused(#[source] ServerError),
    /// The server cannot be reached, or cannot do it now: repeating the operation helps.
    #[error("the server cannot be reached")]
    Unavailable(#[source] ServerError),
    /// The operation failed.
    #[error(transparent)]
    Failed(ServerError),
}

impl CallError {
    /// Returns the error of an operation that took too long.
    pub(crate) fn late() -> Self {
        RedisError::from(io::Error::from(io::ErrorKind::TimedOut)).into()
    }
}

impl From<RedisError> for CallError {
    fn from(error: RedisError) -> Self {
        if is_refusal(&error) {
            return Self::Refused(ServerError(error));
        }
        let lost = matches!(error.kind(), ErrorKind::Io | ErrorKind::Parse);
        match lost || is_passing(&error) {
            true => Self::Unavailable(ServerError(error)),
            false => Self::Failed(ServerError(error)),
        }
    }
}

/// Returns whether an error is an answer of the server, so that the connection works.
pub(super) fn is_answer(error: &RedisError) -> bool {
    let answered = [ErrorKind::Extension, ErrorKind::UnexpectedReturnType];
    matches!(error.kind(), ErrorKind::Server(_)) || answered.contains(&error.kind())
}

/// Returns whether the server is temporarily unable to do the operation: repeating it helps.
pub(super) fn is_passing(error: &RedisError) -> bool {
    use ServerErrorKind::{BusyLoading, ClusterDown, MasterDown, Moved, ReadOnly, TryAgain};
    let passing = [
        BusyLoading,
        ClusterDown,
        MasterDown,
        Moved,
        ReadOnly,
        TryAgain,
    ];
    passing
        .iter()
        .any(|kind| error.kind() == ErrorKind::Server(*kind))
        || error.code().is_some_and(|code| SHORTAGES.contains(&code))
}

/// Returns whether the server refused the user, the password, or an operation of the user.
fn is_refusal(error: &RedisError) -> bool {
    let denied = ["NOAUTH", "WRONGPASS", "NOPERM"];
    error.kind() == ErrorKind::AuthenticationFailed
        || error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm)
        || error.code().is_some_and(|code| denied.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_named_once() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let error = CallError::from(RedisError::from(refused));
        let text = format!("{error}: {}", std::error::Error::source(&error).unwrap());
        assert_eq!(text, "the server cannot be reached: connection refused");
        let cause = std::error::Error::source(&error).unwrap();
        assert!(cause.source().is_none());
    }
}
