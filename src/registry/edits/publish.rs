//! Publishing edits: in local files or on a remote's branch, decided again on each newer table.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::decide::{EditDecision, EditedEntry, edit_entries};
use super::entry_edit::EntryEdit;
use super::refusal::EditRefusal;
use crate::mapping::Table;
use crate::registry::decide::ProvedTable;
use crate::registry::publish::{
    Branch, ChangeRun, Edit, LocalError, PublishError, Published, TableChange, TablePath,
    UserCheckout, change_in_files, change_on_branch,
};
use crate::registry::text::TableText;

/// Edits to publish together.
pub struct EditRun<'r> {
    /// The edits.
    pub edits: &'r [EntryEdit],
    /// Returns the subject of a commit for the changed entries, of which there is at least one.
    pub subject: &'r dyn Fn(&[&EditedEntry]) -> String,
    /// Whether this is a dry run, which writes and publishes nothing.
    pub is_dry_run: bool,
}

/// Why no edit was decided.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The table cannot be edited.
    #[error(transparent)]
    Refused(#[from] EditRefusal),
    /// The files cannot be changed.
    #[error(transparent)]
    Local(#[from] LocalError),
    /// The change cannot be published.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

/// Edits the table at these paths, files and directories, of at most `max_bytes`. Waits for other
/// writers. In a `checkout`, the files are also committed, or restored.
///
/// # Errors
///
/// If the table has errors, or a file cannot be read, written or committed; then nothing has
/// changed.
pub fn edit_in_files(
    paths: &[PathBuf],
    max_bytes: u64,
    run: &EditRun<'_>,
    checkout: Option<&UserCheckout>,
) -> Result<EditDecision, EditError> {
    let decide = |text: &TableText| run.decide(text, max_bytes);
    let decided = change_in_files(paths, max_bytes, checkout, decide)?;
    Ok(decided.change.decision)
}

/// Edits the table on a remote's branch, retrying on newer tips for as long as `timeout` lasts;
/// nothing is published if nothing changes. Blocks the thread.
///
/// # Errors
///
/// If the table has errors, or the change cannot be published; then nothing has changed.
pub fn edit_on_branch(
    branch: &mut impl Branch,
    table: &TablePath,
    run: &EditRun<'_>,
    timeout: Duration,
) -> Result<(EditDecision, Option<Published>), EditError> {
    let decide = |text: &TableText| run.decide(text, table.max_bytes());
    let (decided, published) = change_on_branch(branch, table, timeout, decide)?;
    Ok((decided.change.decision, published))
}

/// Edits that were decided.
struct DecidedEdits {
    decision: EditDecision,
    message: String,
}

impl EditRun<'_> {
    fn decide(
        &self,
        text: &TableText,
        max_bytes: u64,
    ) -> Result<ChangeRun<DecidedEdits>, EditError> {
        let compiled = text.compiled().map_err(EditRefusal::from)?;
        let now = SystemTime::now().into();
        let decision = edit_entries(text.files(), &compiled, self.edits, max_bytes, now);
        Ok(ChangeRun {
            change: DecidedEdits {
                message: self.message(&decision),
                decision,
            },
            is_dry_run: self.is_dry_run,
        })
    }

    /// Returns the message of the commit: the links, and the statements as trailers
    /// (git-interpret-trailers(1)).
    fn message(&self, decision: &EditDecision) -> String {
        let changed: Vec<_> = decision.changed_entries().collect();
        if changed.is_empty() {
            return String::new();
        }
        let mut message = format!("{}\n\n", (self.subject)(&changed));
        for entry in changed {
            message += &format!("Short-Link: {}\n", entry.short_url);
            for trailer in &entry.trailers {
                message += trailer;
                message.push('\n');
            }
        }
        message
    }
}

impl EditDecision {
    /// Returns the entries that are changed, in the order of the edits.
    pub fn changed_entries(&self) -> impl Iterator<Item = &EditedEntry> {
        let edited = self
            .outcomes
            .iter()
            .filter_map(|outcome| outcome.as_ref().ok());
        edited.filter(|entry| entry.is_changed)
    }
}

impl TableChange for DecidedEdits {
    fn edit(&self) -> Edit {
        Edit {
            files: self.decision.changed.clone(),
            message: self.message.clone(),
        }
    }

    fn proved(&self) -> &ProvedTable {
        let proved = self.decision.proved.as_ref();
        proved.expect("what changes files is proved")
    }

    fn is_in(&self, table: &Table) -> bool {
        self.decision.changed_entries().all(|edited| {
            let mut sites = table.sites().iter();
            let site = sites.find(|site| site.base_url().as_str() == edited.site);
            let entry = site.and_then(|site| site.lookup(&edited.content.code));
            entry.is_some_and(|entry| edited.content.is_that_of(entry))
        })
    }
}
