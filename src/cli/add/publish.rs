//! A registration as a change to publish.

use std::path::PathBuf;

use crate::cli::publishing::{ChangeFailure, RETRY_TIMEOUT, RequestedChange};
use crate::registry::{
    Branch, Destination, Published, Registration, RegistrationRequest, RegistrationRun, TablePath,
    UserCheckout, register_in_files, register_on_branch,
};

/// A request to add a link.
pub(super) struct Adding {
    pub(super) request: RegistrationRequest,
    pub(super) is_dry_run: bool,
}

impl RequestedChange for Adding {
    type Decided = Registration;
    type Error = ChangeFailure;

    fn in_files(
        &self,
        paths: &[PathBuf],
        max_bytes: u64,
        checkout: Option<&UserCheckout>,
    ) -> Result<(Registration, bool), ChangeFailure> {
        let run = self.run(&self.request);
        let registration = register_in_files(paths, max_bytes, &run, checkout)?;
        Ok((registration, !self.is_dry_run))
    }

    fn on_branch(
        &self,
        branch: &mut impl Branch,
        table: &TablePath,
    ) -> Result<(Registration, Option<Published>), ChangeFailure> {
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
