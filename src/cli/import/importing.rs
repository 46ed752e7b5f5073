//! An import as a change to publish.

use std::io;
use std::path::PathBuf;

use crate::cli::arguments::MAX_BYTES;
use crate::cli::publishing::{Change, RETRY_TIMEOUT};
use crate::cli::terminal::Error;
use crate::exchange::read::ReadError;
use crate::mapping::BaseUrl;
use crate::registry::{
    Branch, ImportDecision, ImportRun, LocalError, PublishError, Published, RegistrationRefusal,
    TablePath, UserCheckout, import_in_files, import_in_new_file, import_on_branch,
};

/// Links to import into a table, or into a new one with a base URL.
pub(super) struct Importing<'i> {
    pub(super) run: ImportRun<'i, ImportFailure>,
    pub(super) new_table: Option<&'i BaseUrl>,
}

/// Why nothing was imported.
pub(super) enum ImportFailure {
    Refused(RegistrationRefusal),
    Read(ReadError),
    Other(Error),
}

impl Change for Importing<'_> {
    type Decided = ImportDecision;
    type Error = ImportFailure;

    fn in_files(
        &self,
        paths: &[PathBuf],
        checkout: Option<&UserCheckout>,
    ) -> Result<(ImportDecision, bool), ImportFailure> {
        let run = &self.run;
        let decision = match (self.new_table, paths) {
            (Some(base_url), [path]) => {
                import_in_new_file(path, base_url, MAX_BYTES, run, checkout)?
            }
            _ => import_in_files(paths, MAX_BYTES, run, checkout)?,
        };
        let is_written = !run.is_dry_run && !decision.changed.is_empty();
        Ok((decision, is_written))
    }

    fn on_branch(
        &self,
        branch: &mut impl Branch,
        table: &TablePath,
    ) -> Result<(ImportDecision, Option<Published>), ImportFailure> {
        import_on_branch(branch, table, &self.run, RETRY_TIMEOUT)
    }
}

impl From<RegistrationRefusal> for ImportFailure {
    fn from(refusal: RegistrationRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<LocalError> for ImportFailure {
    fn from(error: LocalError) -> Self {
        match error {
            LocalError::Refused(refusal) => Self::Refused(refusal),
            error => Self::Other(error.into()),
        }
    }
}

impl From<PublishError> for ImportFailure {
    fn from(error: PublishError) -> Self {
        Self::Other(error.into())
    }
}

impl From<Error> for ImportFailure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<io::Error> for ImportFailure {
    fn from(error: io::Error) -> Self {
        Self::Other(error.into())
    }
}
