//! Changes of a table that were decided and proved: the interface for all ways of publishing.

use super::edit::Edit;
use crate::mapping::Table;
use crate::registry::decide::ProvedTable;

/// A decided change of a table.
pub(crate) trait TableChange {
    /// Returns the files that change, and the message of a commit; no files if nothing changes.
    fn edit(&self) -> Edit;

    /// Returns the table with the change.
    fn proved(&self) -> &ProvedTable;

    /// Returns whether a table, which others may have changed too, has the change.
    fn is_in(&self, table: &Table) -> bool;
}

/// A change that is published, unless this is a dry run.
pub(crate) struct ChangeRun<C> {
    pub(crate) change: C,
    pub(crate) is_dry_run: bool,
}

impl<C: TableChange> TableChange for ChangeRun<C> {
    fn edit(&self) -> Edit {
        match self.is_dry_run {
            true => Edit {
                files: Vec::new(),
                message: String::new(),
            },
            false => self.change.edit(),
        }
    }

    fn proved(&self) -> &ProvedTable {
        self.change.proved()
    }

    fn is_in(&self, table: &Table) -> bool {
        self.change.is_in(table)
    }
}
