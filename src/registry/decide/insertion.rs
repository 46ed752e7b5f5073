//! Insertion of additions into the files of a table, all at once.

use std::path::Path;
use std::sync::Arc;

use super::addition::Addition;
use super::base::Base;
use super::refusal::RegistrationRefusal;
use crate::edit::{self, NewEntry};
use crate::mapping::{Diagnostic, SourceFile, Table};

/// Returns the files that change, or are new, with the entries of all additions in them.
///
/// # Errors
///
/// If an entry cannot be inserted into a file, or a new file already exists.
pub(crate) fn insert(
    base: &Base<'_>,
    additions: &[&Addition<'_>],
) -> Result<Vec<SourceFile>, RegistrationRefusal> {
    let mut written: Vec<SourceFile> = Vec::new();
    let mut waiting = additions.to_vec();
    while let Some(&first) = waiting.first() {
        let (here, elsewhere): (Vec<_>, _) = waiting
            .into_iter()
            .partition(|addition| addition.path == first.path);
        waiting = elsewhere;
        written.push(match first.is_new_file {
            true => fragment(base, first)?,
            false => insert_into(base, &first.path, &here)?,
        });
    }
    Ok(written)
}

fn insert_into(
    base: &Base<'_>,
    path: &Arc<str>,
    additions: &[&Addition<'_>],
) -> Result<SourceFile, RegistrationRefusal> {
    let entries: Vec<_> = additions.iter().map(|addition| &addition.entry).collect();
    let text = base.outline(path, additions[0].site).and_then(|outline| {
        let inserted = edit::insert(&outline, &entries);
        inserted.map_err(|obstacle| obstacle.in_file(path))
    });
    let text = text.map_err(|problem| cannot_insert(problem, &entries))?;
    Ok(SourceFile {
        path: Arc::clone(path),
        bytes: text.into_bytes(),
    })
}

fn cannot_insert(problem: Diagnostic, entries: &[&NewEntry]) -> RegistrationRefusal {
    let problems = vec![problem];
    match entries {
        [only] => RegistrationRefusal::CannotInsert {
            problems,
            entry: only.to_string(),
        },
        _ => RegistrationRefusal::CannotInsertAny { problems },
    }
}

/// Writes a file for one entry. It belongs to the only site, or names its site if there are
/// several.
fn fragment(base: &Base<'_>, addition: &Addition<'_>) -> Result<SourceFile, RegistrationRefusal> {
    let path = Path::new(&*addition.path);
    // Or the intended directory is a file.
    let is_there = |file: &SourceFile| path.starts_with(&*file.path);
    if base.files().iter().any(is_there) {
        let path = addition.path.to_string();
        return Err(RegistrationRefusal::FileExists { path });
    }
    Ok(SourceFile {
        path: Arc::clone(&addition.path),
        bytes: fragment_text(base.table(), addition).into_bytes(),
    })
}

/// Returns the text of a file for one entry.
pub(super) fn fragment_text(table: &Table, addition: &Addition<'_>) -> String {
    let base_url = match table.sites() {
        [_] => String::new(),
        _ => format!("base_url: {}\n", addition.site.base_url().as_str()),
    };
    format!("{base_url}mapping:\n{}\n", addition.entry)
}
