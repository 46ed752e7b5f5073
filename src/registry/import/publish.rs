//! Publishing an import: in local files or on a remote's branch, decided again on each newer table.
//!
//! Either the table gains exactly the new entries, in one commit if there is a commit, or nothing
//! changes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::decide::{ImportDecision, ImportRun};
use crate::mapping::{BaseUrl, Case, SourceFile, Table, compare};
use crate::registry::decide::{ProvedTable, RegistrationRefusal};
use crate::registry::publish::{
    Branch, ChangeRun, Edit, LocalError, PublishError, Published, TableChange, TablePath,
    UserCheckout, change_in_files, change_on_branch, create_in_files,
};
use crate::registry::text::TableText;

/// Imports links into the table at these paths, files and directories, of at most `max_bytes`. Waits
/// for other writers. In a `checkout`, the files are also committed, or restored.
///
/// # Errors
///
/// If the table cannot be read, has errors, or would have some, if it cannot be written or
/// committed, or if [`ImportRun::fill`] fails; then nothing has changed.
pub fn import_in_files<E: From<LocalError> + From<RegistrationRefusal>>(
    paths: &[PathBuf],
    max_bytes: u64,
    run: &ImportRun<'_, E>,
    checkout: Option<&UserCheckout>,
) -> Result<ImportDecision, E> {
    let decide = |text: &TableText| run.change(text, max_bytes);
    Ok(change_in_files(paths, max_bytes, checkout, decide)?.change)
}

/// A table that does not exist yet.
#[derive(Debug, Clone, Copy)]
pub struct NewTable<'n> {
    /// Its base URL.
    pub base_url: &'n BaseUrl,
    /// Whether case counts in its codes.
    pub case: Case,
}

/// Imports links into a new table, in a file that does not exist yet; as
/// [`import_in_files`] in all else.
///
/// # Errors
///
/// As those of [`import_in_files`], and if there is such a file.
pub fn import_in_new_file<E: From<LocalError> + From<RegistrationRefusal>>(
    path: &Path,
    table: NewTable<'_>,
    max_bytes: u64,
    run: &ImportRun<'_, E>,
    checkout: Option<&UserCheckout>,
) -> Result<ImportDecision, E> {
    let base_url = table.base_url.as_str();
    let case = match table.case {
        Case::Exact => String::new(),
        Case::Fold => format!("case: {}\n", table.case.name()),
    };
    let empty = SourceFile {
        path: path.display().to_string().into(),
        bytes: format!("base_url: {base_url}\n{case}mapping: []\n").into_bytes(),
    };
    let decided = run.of(run.decide_new(&empty, max_bytes)?);
    Ok(create_in_files(path, max_bytes, checkout, decided)?.change)
}

/// Imports links into the table on a remote's branch, retrying on newer tips for as long as `timeout`
/// lasts; nothing is published if nothing changes. Blocks the thread.
///
/// # Errors
///
/// If the table has errors, or would have some, if the change cannot be published, or if
/// [`ImportRun::fill`] fails; then nothing has changed.
pub fn import_on_branch<E: From<PublishError> + From<RegistrationRefusal>>(
    branch: &mut impl Branch,
    table: &TablePath,
    run: &ImportRun<'_, E>,
    timeout: Duration,
) -> Result<(ImportDecision, Option<Published>), E> {
    let decide = |text: &TableText| run.change(text, table.max_bytes());
    let (decided, published) = change_on_branch(branch, table, timeout, decide)?;
    Ok((decided.change, published))
}

impl<E: From<RegistrationRefusal>> ImportRun<'_, E> {
    fn change(&self, text: &TableText, max_bytes: u64) -> Result<ChangeRun<ImportDecision>, E> {
        Ok(self.of(self.decide(text, max_bytes)?))
    }

    fn of(&self, change: ImportDecision) -> ChangeRun<ImportDecision> {
        ChangeRun {
            change,
            is_dry_run: self.is_dry_run,
        }
    }
}

impl TableChange for ImportDecision {
    fn edit(&self) -> Edit {
        Edit {
            files: self.changed.clone(),
            message: self.message.clone(),
        }
    }

    fn proved(&self) -> &ProvedTable {
        let proved = self.proved.as_ref();
        proved.expect("what changes files is proved")
    }

    fn is_in(&self, table: &Table) -> bool {
        let imported = &self.proved().table.table;
        compare(&self.before, imported).iter().all(|change| {
            let Some(new) = change.new else {
                return false;
            };
            let site = table.counterpart(new.site());
            let there = site.and_then(|site| site.lookup(&change.code));
            there.is_some_and(|there| there.target() == new.target())
        })
    }
}
