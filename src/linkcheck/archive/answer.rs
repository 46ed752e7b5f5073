//! The result of a look-up in an archive.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::linkcheck::conclude::Seen;
use crate::linkcheck::request::{Failure, RedirectProblem};

/// The answer of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArchiveAnswer {
    /// It has a copy, at this URL.
    Copy(String),
    /// It has no usable copy.
    NoCopy,
    /// It gave no usable answer.
    Failed(ArchiveProblem),
}

/// Why an archive gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum ArchiveProblem {
    /// It must not be contacted.
    #[error("it was not contacted: {0}")]
    NotContacted(Seen),
    /// It cannot be reached.
    #[error("it cannot be reached: {0}")]
    Failed(Failure),
    /// It redirects elsewhere.
    #[error("{0}")]
    Astray(RedirectProblem),
    /// It refuses to answer.
    #[error("it answers with status {0}")]
    Status(u16),
    /// Its answer is too long.
    #[error("its answer is too long")]
    TooLong,
    /// Its answer has an unknown form.
    #[error("its answer is not that of an availability API")]
    Unreadable,
    /// The copy, or the answer, is at a foreign host.
    #[error("its answer leads to a host that is not its own")]
    Foreign,
}
