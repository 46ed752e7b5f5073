//! The links to check: all of a table, or those that its base does not have.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::cli::arguments::{MAX_BYTES, table};
use crate::cli::terminal::{Error, complain};
use crate::history::Lineage;
use crate::linkcheck::Links;
use crate::mapping::{Table, Timestamp};

/// Returns the links to check: of a table, or only those that its base does not have.
pub(super) fn links(
    table: &Arc<Table>,
    paths: &[PathBuf],
    base: Option<&str>,
) -> Result<Links, Error> {
    let now = Timestamp::from(SystemTime::now());
    let Some(base) = base else {
        return Ok(Links::of(table, now, |_| true));
    };
    let known = targets(lineage(paths)?.table_at_base(base, &|note| {
        complain(&note.to_string());
    })?);
    Ok(Links::of(table, now, |target| !known.contains(target)))
}

/// Returns the commits of the table, none of whose paths leads out of its repository.
fn lineage(paths: &[PathBuf]) -> Result<Lineage, Error> {
    let lineage = Lineage::of_work_tree(paths, "HEAD", MAX_BYTES)?;
    let refused = table::refuse_links(lineage.repository(), paths)?;
    match refused.is_empty() {
        true => Ok(lineage),
        false => {
            table::report(&refused)?;
            Err(Error::Reported)
        }
    }
}

/// Returns the targets of a table; none, if there was none.
fn targets(table: Option<Table>) -> HashSet<String> {
    let sites = table.iter().flat_map(Table::sites);
    let entries = sites.flat_map(|site| site.entries());
    entries
        .filter_map(|entry| entry.target().map(|target| target.into_owned()))
        .collect()
}
