//! What came of a look-up.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::linkcheck::ask::{Failure, RedirectProblem};
use crate::linkcheck::conclude::Seen;

/// What an archive answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArchiveAnswer {
    /// It has a copy, at this URL.
    Copy(String),
    /// It has none that can be used.
    NoCopy,
    /// It gave no answer that can be used.
    Failed(ArchiveProblem),
}

/// Why there is no answer of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum ArchiveProblem {
    /// It must not be asked.
    #[error("it was not asked: {0}")]
    Unasked(Seen),
    /// It cannot be reached.
    #[error("it cannot be reached: {0}")]
    Failed(Failure),
    /// It leads elsewhere.
    #[error("{0}")]
    Astray(RedirectProblem),
    /// It refuses to answer.
    #[error("it answers with status {0}")]
    Status(u16),
    /// Its answer is too long.
    #[error("its answer is too long")]
    TooLong,
    /// Its answer is in no form that is known.
    #[error("its answer is not that of an availability interface")]
    Unreadable,
    /// The copy, or the answer, is at a host that is not its own.
    #[error("its answer leads to a host that is not its own")]
    Foreign,
}
