//! An import as a change to publish.

use std::path::PathBuf;

use crate::cli::publishing::{ChangeFailure, RETRY_TIMEOUT, RequestedChange};
use crate::registry::{
    Branch, ImportDecision, ImportRun, NewTable, Published, TablePath, UserCheckout,
    import_in_files, import_in_new_file, import_on_branch,
};

/// Links to import into a table, or into a new one with a base URL.
pub(super) struct Importing<'i> {
    pub(super) run: ImportRun<'i, ChangeFailure>,
    pub(super) new_table: Option<NewTable<'i>>,
}

impl RequestedChange for Importing<'_> {
    type Decided = ImportDecision;
    type Error = ChangeFailure;

    fn in_files(
        &self,
        paths: &[PathBuf],
        max_bytes: u64,
        checkout: Option<&UserCheckout>,
    ) -> Result<(ImportDecision, bool), ChangeFailure> {
        let run = &self.run;
        let decision = match (self.new_table, paths) {
            (Some(table), [path]) => import_in_new_file(path, table, max_bytes, run, checkout)?,
            _ => import_in_files(paths, max_bytes, run, checkout)?,
        };
        let is_written = !run.is_dry_run && !decision.changed.is_empty();
        Ok((decision, is_written))
    }

    fn on_branch(
        &self,
        branch: &mut impl Branch,
        table: &TablePath,
    ) -> Result<(ImportDecision, Option<Published>), ChangeFailure> {
        import_on_branch(branch, table, &self.run, RETRY_TIMEOUT)
    }
}
