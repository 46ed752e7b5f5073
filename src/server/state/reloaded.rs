//! The outcomes of checks of the source, and their names.

/// The outcome of a check of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reloaded {
    /// Another revision went live.
    Success,
    /// The live revision is already the source's.
    Unchanged,
    /// The source's table has errors.
    Rejected,
    /// The source could not be read.
    Failed,
}

impl Reloaded {
    pub(crate) const ALL: [Self; 4] =
        [Self::Success, Self::Unchanged, Self::Rejected, Self::Failed];

    /// Returns its name in metrics and the status.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Unchanged => "unchanged",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
        }
    }
}
