//! The reasons why a file is not read to its end.

/// The reason why reading cannot continue.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The file is not YAML, which has been reported.
    Syntax,
    /// The file is not in block form; problems reported for it are void.
    Declined,
}

impl From<Declined> for Stop {
    fn from(_: Declined) -> Self {
        Self::Declined
    }
}

/// The file contains something that only the YAML reader supports.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Declined;
