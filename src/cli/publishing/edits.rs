//! Edits of entries as changes to publish, and their reports.

use std::io::{self, Write};
use std::path::PathBuf;

use super::publication::RETRY_TIMEOUT;
use super::requested_change::RequestedChange;
use crate::cli::arguments::table;
use crate::cli::diff;
use crate::cli::terminal::Error;
use crate::mapping::{Table, compare};
use crate::registry::{
    Branch, EditDecision, EditError, EditRefusal, EditRun, Published, TablePath, UserCheckout,
    edit_in_files, edit_on_branch,
};

impl RequestedChange for EditRun<'_> {
    type Decided = EditDecision;
    type Error = Error;

    fn in_files(
        &self,
        paths: &[PathBuf],
        max_bytes: u64,
        checkout: Option<&UserCheckout>,
    ) -> Result<(EditDecision, bool), Error> {
        let decision = edit_in_files(paths, max_bytes, self, checkout).map_err(failed)?;
        let is_written = !self.is_dry_run && !decision.changed.is_empty();
        Ok((decision, is_written))
    }

    fn on_branch(
        &self,
        branch: &mut impl Branch,
        table: &TablePath,
    ) -> Result<(EditDecision, Option<Published>), Error> {
        edit_on_branch(branch, table, self, RETRY_TIMEOUT).map_err(failed)
    }
}

/// Returns why nothing was edited.
fn failed(error: EditError) -> Error {
    match error {
        EditError::Local(error) => error.into(),
        EditError::Publish(error) => error.into(),
        EditError::Refused(EditRefusal::TableHasErrors(diagnostics)) => {
            match table::report(&diagnostics) {
                Ok(()) => Error::refused(EditRefusal::TableHasErrors(Vec::new())),
                Err(error) => error.into(),
            }
        }
        error => Error::refused(error),
    }
}

/// Shows the changes of a dry run, as `diff` does; returns whether the meaning would change.
pub(crate) fn show(out: &mut impl Write, before: &Table, after: &Table) -> io::Result<bool> {
    let changes = compare(before, after);
    diff::show(out, &changes, before.sites().len() > 1)?;
    Ok(!changes.is_empty())
}

/// Returns the trailers that a commit message needs if codes now lead elsewhere.
pub(crate) fn statement<'a>(trailers: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut lines: Vec<_> = trailers.into_iter().cloned().collect();
    if !lines.is_empty() {
        let first = "declare the change in the commit message:";
        lines.insert(0, first.to_owned());
    }
    lines
}
