//! The repository that a transfer works in.

use serde::{Deserialize, Serialize};

/// The kind of repository that a transfer works in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CloneTarget {
    /// A clone of our own: made if it is missing, and cleared of a killed fetch's leftovers.
    OwnClone,
    /// A person's repository, in which others may be at work.
    Shared,
}
