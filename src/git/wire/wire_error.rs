//! Why a conversation with `upload-pack` failed.

use std::io;

/// Why a conversation with `upload-pack` failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    /// The remote cannot be reached.
    #[error("failed to connect to {place}")]
    Unreachable {
        place: String,
        #[source]
        source: io::Error,
    },
    /// The program `git` cannot be run.
    #[error("cannot run git")]
    Program(#[source] io::Error),
    /// The connection failed.
    #[error("the connection to the remote failed")]
    Io(#[from] io::Error),
    /// The remote reports an error.
    #[error("remote error: {0}")]
    Remote(String),
    /// The remote ended the conversation.
    #[error("the remote ended the connection early")]
    Ended,
    /// The remote's ids are longer, or of another kind.
    #[error("unknown object format '{0}'")]
    ObjectFormat(String),
    /// The remote does not follow Git's protocol.
    #[error("the remote does not speak Git's protocol: {0}")]
    Malformed(&'static str),
    /// The remote lists too many references.
    #[error("the remote lists too many references")]
    TooManyReferences,
}
