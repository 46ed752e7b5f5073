//! Notes for users who compare a table with its history, which are not errors.

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
    /// The table at the base has errors, so an earlier one is used for the comparison.
    EarlierBase {
        /// The base.
        base: CommitId,
        /// The commit of the table that is used instead.
        sound: CommitId,
    },
    /// Nothing was published at the base.
    NothingPublished {
        /// The base.
        base: CommitId,
    },
    /// Every table up to the base has errors.
    NothingSound {
        /// The base.
        base: CommitId,
    },
    /// The base has no owners file.
    NoOwners {
        /// The base.
        base: CommitId,
    },
    /// The owners file at the base names no accounts.
    EmptyOwners {
        /// The base.
        base: CommitId,
    },
    /// The owners file at the base has errors.
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
                "nothing was published at the base {}: the table is checked without it",
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
                "the base {} has no owners file: anyone may change any entry",
                base.short()
            ),
            Self::EmptyOwners { base } => write!(
                f,
                "the owners file at the base {} names no account: anyone may change any entry",
                base.short()
            ),
            Self::UnsoundOwners { base } => write!(
                f,
                "the owners file at the base {} has errors: only its readable parts count",
                base.short()
            ),
        }
    }
}
