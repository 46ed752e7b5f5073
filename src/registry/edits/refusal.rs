//! Refusals: why an entry is not edited.

use thiserror::Error;

use crate::mapping::{Diagnostic, Place};
use crate::registry::decide::Holder;

/// Why an entry is not edited.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum EditRefusal {
    /// The table already has errors.
    #[error("the table has errors, so nothing is changed in it")]
    TableHasErrors(Vec<Diagnostic>),
    /// The table has no such entry.
    #[error("the table has no entry with the code {code:?}")]
    NoSuchEntry {
        /// The code.
        code: String,
    },
    /// The entry is not what it was when the edit was decided.
    #[error("the entry at {place} has changed meanwhile")]
    Changed {
        /// Its place.
        place: Place,
    },
    /// Another edit in the same change concerns the same entry.
    #[error("the entry at {place} is edited twice")]
    Repeated {
        /// Its place.
        place: Place,
    },
    /// The target is under a site of the table.
    #[error("the URL is a short link of this table")]
    OwnLink,
    /// A retired entry is never given another target.
    #[error("the entry is retired, and its code is never given to another target")]
    Retired,
    /// The text cannot be changed without risk.
    #[error("the entry cannot be changed")]
    CannotEdit(Box<Diagnostic>),
    /// A code would change where a path leads that another entry currently answers.
    #[error(
        "the code {code:?} would change where {path:?} leads, which {:?} at {} answers",
        holder.code, holder.place
    )]
    Shadows {
        /// The code.
        code: String,
        /// The path, relative to the base path.
        path: String,
        /// The entry that answers it.
        holder: Box<Holder>,
    },
    /// With the edit, the table would exceed its maximum size.
    #[error("the table would be larger than {max_bytes} bytes")]
    TooLarge {
        /// The maximum number of bytes.
        max_bytes: u64,
    },
    /// With the edit, the table would have errors.
    #[error("the table would have errors")]
    Unsound {
        /// The new errors. Their places are in a text that was not written.
        problems: Vec<Diagnostic>,
    },
    /// The result would not be the table with this edit.
    #[error("changing the entry would change something else, too")]
    SideEffects,
    /// Too many edits at once would break the table.
    #[error("too many other changes would break the table")]
    Undecided,
}
