//! Why packs cannot be read or written.

use std::io;

/// Why packs cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PackError {
    /// A pack is damaged.
    #[error("a pack is damaged: {0}")]
    Damaged(&'static str),
    /// A received pack is damaged, which says nothing about those that are here.
    #[error("the remote sent a pack that is damaged: {0}")]
    Received(&'static str),
    /// An object is too large for memory.
    #[error("an object of {0} bytes is too large")]
    TooLarge(u64),
    /// The system failed.
    #[error("cannot read or write a pack")]
    Io(#[from] io::Error),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] git2::Error),
}

impl PackError {
    /// Returns the error for a pack that was just received.
    pub(super) fn received(self) -> Self {
        match self {
            Self::Damaged(reason) => Self::Received(reason),
            error => error,
        }
    }
}
