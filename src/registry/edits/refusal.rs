//! Refusals: why an entry is not edited.

use thiserror::Error;

use crate::mapping::{Diagnostic, Place, Timestamp, UnknownSite};
use crate::registry::decide::{CodeUnreachable, ControlCharacter, Holder};
use crate::registry::text::NotCompiled;

/// Why an entry is not edited.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum EditRefusal {
    /// The table already has errors.
    #[error("the table has errors, so nothing was changed in it")]
    TableHasErrors(Vec<Diagnostic>),
    /// The table has no such link.
    #[error("the table has no link {link:?}")]
    NoSuchLink {
        /// The code or the short link.
        link: String,
        /// Similar codes, nearest first.
        similar: Vec<String>,
    },
    /// Several sites have the code.
    #[error("several sites have the code {code:?}: {}", links.join(", "))]
    SeveralSites {
        /// The code.
        code: String,
        /// The short links.
        links: Vec<String>,
    },
    /// The table does not have the named site.
    #[error(transparent)]
    UnknownSite(#[from] UnknownSite),
    /// The entry belongs to another owner, or to none.
    #[error("the entry belongs to another owner")]
    NotOwned,
    /// The entry has changed since the edit was decided.
    #[error("the entry at {place} has changed in the meantime")]
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
    /// A URL is under a site of the table.
    #[error("the URL is a short link of this table")]
    OwnLink {
        /// Its key.
        key: &'static str,
    },
    /// Another entry leads to the page that must be new.
    #[error("the entry at {place} leads to the same page")]
    SamePage {
        /// Its place.
        place: Place,
    },
    /// Another link of the site leads to the target.
    #[error("ERR-000-02-00: URL already registered")]
    AlreadyRegistered(Box<Holder>),
    /// A URL was taken down: a retired entry has dropped it.
    #[error("the URL was taken down")]
    TakenDown {
        /// Its key.
        key: &'static str,
    },
    /// A retired entry is never given another target.
    #[error("the entry is retired, and its code is never given to another target")]
    Retired,
    /// A retired entry that has dropped its target cannot return.
    #[error("the entry at {place} has no target to return to")]
    NoTarget {
        /// Its place.
        place: Place,
    },
    /// An entry that has dropped its target cannot name an archived copy of it.
    #[error("the entry at {place} has dropped its target, so it cannot have an archived copy")]
    NoArchive {
        /// Its place.
        place: Place,
    },
    /// An entry that has dropped its target leads no paths anywhere.
    #[error("the entry at {place} has dropped its target, so paths below it lead nowhere")]
    NoBelow {
        /// Its place.
        place: Place,
    },
    /// An entry that has dropped its target has no others.
    #[error("the entry at {place} has dropped its target, so it cannot have variants")]
    NoVariants {
        /// Its place.
        place: Place,
    },
    /// An expired entry does not work again when its retirement is reverted.
    #[error("the entry at {place} expired at {since}, so its link would not work")]
    Expired {
        /// Its place.
        place: Place,
        /// The end of its validity.
        since: Timestamp,
    },
    /// An entry without a target must be retired.
    #[error("an entry can drop its target only once it is retired")]
    NotRetired,
    /// A human-readable text contains a control character.
    #[error(transparent)]
    ControlCharacter(#[from] ControlCharacter),
    /// Aliases would be removed.
    #[error(
        "{} {} would be removed, and a published link is a promise",
        if codes.len() == 1 { "the alias" } else { "the aliases" },
        codes.iter().map(|code| format!("{code:?}")).collect::<Vec<_>>().join(", ")
    )]
    AliasesLost {
        /// The aliases.
        codes: Vec<String>,
    },
    /// A new alias leads elsewhere, or did before it was retired.
    #[error("the code {code:?} is taken by the entry at {}", holder.place)]
    CodeTaken {
        /// The code.
        code: String,
        /// The entry that has it.
        holder: Box<Holder>,
    },
    /// Another site of the same host answers the path of a new alias.
    #[error(transparent)]
    CodeUnreachable(#[from] CodeUnreachable),
    /// The text cannot be changed safely.
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
    /// The text of the table has changed since it was read.
    #[error("{path} was changed at the same time")]
    TextLost {
        /// The path of a file.
        path: String,
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
    #[error("changing the entry would also change something else")]
    SideEffects,
    /// Too many edits at once would break the table.
    #[error("too many other changes would break the table")]
    Undecided,
}

impl From<NotCompiled> for EditRefusal {
    fn from(why: NotCompiled) -> Self {
        match why {
            NotCompiled::Errors(errors) => Self::TableHasErrors(errors),
            NotCompiled::Lost(path) => Self::TextLost { path },
        }
    }
}
