//! Requested changes: the interface for all ways of publishing.

use std::io;
use std::path::PathBuf;

use crate::cli::terminal::Error;
use crate::registry::{
    Branch, LocalError, OnlineError, PublishError, Published, RegistrationRefusal, TablePath,
    UserCheckout,
};

/// A change that can be decided on a table, and made in it.
pub(crate) trait RequestedChange {
    /// The decision.
    type Decided;

    /// Why nothing was decided.
    type Error: From<Error>;

    /// Makes it in files of at most `max_bytes`, which are also committed in a checkout; returns
    /// whether anything was written, too.
    fn in_files(
        &self,
        paths: &[PathBuf],
        max_bytes: u64,
        checkout: Option<&UserCheckout>,
    ) -> Result<(Self::Decided, bool), Self::Error>;

    /// Makes it on a branch.
    fn on_branch(
        &self,
        branch: &mut impl Branch,
        table: &TablePath,
    ) -> Result<(Self::Decided, Option<Published>), Self::Error>;
}

/// Why links were not added or imported.
pub(crate) enum ChangeFailure {
    /// They are refused.
    Refused(RegistrationRefusal),
    /// Any other reason.
    Other(Error),
}

impl From<Error> for ChangeFailure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<io::Error> for ChangeFailure {
    fn from(error: io::Error) -> Self {
        Self::Other(error.into())
    }
}

impl From<RegistrationRefusal> for ChangeFailure {
    fn from(refusal: RegistrationRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<PublishError> for ChangeFailure {
    fn from(error: PublishError) -> Self {
        Self::Other(error.into())
    }
}

impl From<LocalError> for ChangeFailure {
    fn from(error: LocalError) -> Self {
        match error {
            LocalError::Refused(refusal) => Self::Refused(refusal),
            error => Self::Other(error.into()),
        }
    }
}

impl From<OnlineError> for ChangeFailure {
    fn from(error: OnlineError) -> Self {
        match error {
            OnlineError::Refused(refusal) => Self::Refused(refusal),
            OnlineError::Publish(error) => Self::Other(error.into()),
        }
    }
}
