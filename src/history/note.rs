//! What someone who compares a table with its past should know, although it is no error.

use std::fmt;

use crate::git::CommitId;
use crate::mapping::TRAILER;

/// A note about a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryNote {
    /// A trailer of a commit has a value that is not understood.
    UnknownStatement {
        /// The commit.
        commit: CommitId,
        /// The value.
        text: String,
    },
    /// The table at the base has errors, so an earlier one is compared with.
    EarlierBase {
        /// The base.
        base: CommitId,
        /// The commit of the table that is compared with.
        sound: CommitId,
    },
    /// Nothing was published at the base.
    NothingPublished {
        /// The base.
        base: CommitId,
    },
    /// Up to the base, no table was without errors.
    NothingSound {
        /// The base.
        base: CommitId,
    },
    /// The base has no file of owners.
    NoOwners {
        /// The base.
        base: CommitId,
    },
    /// The file of owners at the base names nobody.
    EmptyOwners {
        /// The base.
        base: CommitId,
    },
    /// The file of owners at the base has errors.
    UnsoundOwners {
        /// The base.
        base: CommitId,
    },
}

impl fmt::Display for HistoryNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownStatement { commit, text } => write!(
                f,
                "the commit {} says {:?}, which states nothing: \
                 write it as in \"{TRAILER}: retarget CODE\"",
                commit.short(),
                format!("{TRAILER}: {text}"),
            ),
            Self::EarlierBase { base, sound } => write!(
                f,
                "the table has errors at the base {}: compared with that of {}, the last that has \
                 none",
                base.short(),
                sound.short()
            ),
            Self::NothingPublished { base } => write!(
                f,
                "nothing was published at the base {}: the table is checked by itself",
                base.short()
            ),
            Self::NothingSound { base } => write!(
                f,
                "no table without errors was published up to the base {}: the table is checked by \
                 itself",
                base.short()
            ),
            Self::NoOwners { base } => write!(
                f,
                "the base {} has no file of owners: anyone may change any entry",
                base.short()
            ),
            Self::EmptyOwners { base } => write!(
                f,
                "the file of owners at the base {} names nobody: anyone may change any entry",
                base.short()
            ),
            Self::UnsoundOwners { base } => write!(
                f,
                "the file of owners at the base {} has errors: only what can be read of it counts",
                base.short()
            ),
        }
    }
}
