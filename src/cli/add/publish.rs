//! A registration as a change to publish.

use std::path::PathBuf;

use crate::cli::arguments::MAX_BYTES;
use crate::cli::publishing::{Change, RETRY_TIMEOUT};
use crate::cli::terminal::Error;
use crate::registry::{
    Branch, Destination, LocalError, OnlineError, Published, Registration, RegistrationRefusal,
    RegistrationRequest, RegistrationRun, TablePath, UserCheckout, register_in_files,
    register_on_branch,
};

/// A request to add a link.
pub(super) struct Adding {
    pub(super) request: RegistrationRequest,
    pub(super) is_dry_run: bool,
}

/// Why nothing was added.
pub(super) enum AddError {
    /// The request is refused.
    Refused(RegistrationRefusal),
    /// Any other reason.
    Other(Error),
}

impl Change for Adding {
    type Decided = Registration;
    type Error = AddError;

    fn in_files(
        &self,
        paths: &[PathBuf],
        checkout: Option<&UserCheckout>,
    ) -> Result<(Registration, bool), AddError> {
        let run = self.run(&self.request);
        let registration = register_in_files(paths, MAX_BYTES, &run, checkout)?;
        Ok((registration, !self.is_dry_run))
    }

    fn on_branch(
        &self,
        branch: &mut impl Branch,
        table: &TablePath,
    ) -> Result<(Registration, Option<Published>), AddError> {
        let mut request = self.request.clone();
        if let Destination::Fragment(directory) = &mut request.destination {
            // A new file is named from the repository's top.
            table.path().clone_into(directory);
        }
        let run = self.run(&request);
        Ok(register_on_branch(branch, table, &run, RETRY_TIMEOUT)?)
    }
}

impl Adding {
    fn run<'r>(&self, request: &'r RegistrationRequest) -> RegistrationRun<'r> {
        RegistrationRun {
            request,
            is_dry_run: self.is_dry_run,
        }
    }
}

impl From<Error> for AddError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<LocalError> for AddError {
    fn from(error: LocalError) -> Self {
        match error {
            LocalError::Refused(refusal) => Self::Refused(refusal),
            error => Self::Other(error.into()),
        }
    }
}

impl From<OnlineError> for AddError {
    fn from(error: OnlineError) -> Self {
        match error {
            OnlineError::Refused(refusal) => Self::Refused(refusal),
            OnlineError::Publish(error) => Self::Other(error.into()),
        }
    }
}
