//! The part of a check that compares a proposal with the owners of entries.

use std::path::{Path, PathBuf};

use crate::cli::arguments::table;
use crate::cli::terminal::{Error, complain};
use crate::git::TreePath;
use crate::history::{HistoryError, Lineage, OwnersFile};
use crate::mapping::{Diagnostic, Table};
use crate::source::FileSource;

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// The author of the change since --base: only accounts that act for an entry's owner may
    /// change it
    ///
    /// NAME is an account at the Git host. The owners file next to the table lists the accounts
    /// that act for each owner; its version in the base is the one that counts. An empty NAME means
    /// that the author is unknown.
    #[arg(long, value_name = "NAME", env = "WAYPOST_AUTHOR", requires = "base")]
    author: Option<String>,

    /// The owners file [default: `owners.yaml` next to the table's file or directory]
    ///
    /// With --rev, PATH is relative to the top of the repository, and is read from that commit.
    #[arg(long, value_name = "PATH", env = "WAYPOST_OWNERS", requires = "author")]
    owners: Option<PathBuf>,
}

impl Args {
    /// Returns the path of the owners file of a table in a work tree, if an author is named.
    pub(super) fn path_in_work_tree(&self, lineage: &Lineage) -> Result<Option<TreePath>, Error> {
        self.path(lineage, |given| Ok(lineage.repository().path(given)?))
    }

    /// Returns the path of the owners file in the commit of a table, if an author is named.
    pub(super) fn path_in_commit(&self, lineage: &Lineage) -> Result<Option<TreePath>, Error> {
        self.path(lineage, |given| {
            let given = given.to_string_lossy();
            Ok(lineage.repository().path_in_commit(&given)?)
        })
    }

    fn path(
        &self,
        lineage: &Lineage,
        find: impl Fn(&Path) -> Result<TreePath, Error>,
    ) -> Result<Option<TreePath>, Error> {
        if self.author.is_none() {
            return Ok(None);
        }
        if let Some(given) = &self.owners {
            return find(given).map(Some);
        }
        match lineage.owners_path() {
            Some(path) => Ok(Some(path)),
            None => Err(Error::usage(
                "the table is the whole repository, so no file can be next to it: name the \
                 owners file with --owners",
            )),
        }
    }

    /// Returns the problems of an owners file, and the changes between the tables before and after
    /// that their author may not make.
    pub(super) fn refused(
        &self,
        base: &str,
        file: &OwnersFile,
        tables: (Option<&Table>, &Table),
        lineage: &Lineage,
    ) -> Result<Vec<Diagnostic>, HistoryError> {
        let author = self.author.as_deref().unwrap_or_default();
        lineage.refused_changes(base, author, file, tables, &|note| {
            complain(&note.to_string());
        })
    }
}

/// Reads an owners file as it is in the work tree.
pub(super) fn in_work_tree(path: TreePath, max_bytes: u64) -> Result<OwnersFile, Error> {
    let files = vec![path.as_shown().to_owned()];
    let proposed = match FileSource::new(files.clone(), max_bytes).is_absent() {
        true => None,
        false => table::read(&files, max_bytes)?.pop(),
    };
    Ok(OwnersFile { path, proposed })
}
