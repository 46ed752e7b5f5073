//! Writes drafts into the files of a table, all at once.

use std::path::Path;
use std::sync::Arc;

use super::draft::Draft;
use super::refusal::RegistrationRefusal;
use crate::edit::{self, NewEntry};
use crate::mapping::{SourceFile, Table};

/// Returns the files that change, or are new, with the entries of all drafts in them.
///
/// # Errors
///
/// If an entry cannot be inserted into a file, or a new file already exists.
pub(crate) fn write(
    table: &Table,
    files: &[SourceFile],
    drafts: &[Draft<'_>],
) -> Result<Vec<SourceFile>, RegistrationRefusal> {
    let mut written: Vec<SourceFile> = Vec::new();
    let mut waiting: Vec<&Draft<'_>> = drafts.iter().collect();
    while let Some(&first) = waiting.first() {
        let (here, elsewhere): (Vec<_>, _) = waiting
            .into_iter()
            .partition(|draft| draft.path == first.path);
        waiting = elsewhere;
        written.push(match first.is_new_file {
            true => fragment(table, files, first)?,
            false => insert(files, &here)?,
        });
    }
    Ok(written)
}

fn insert(files: &[SourceFile], drafts: &[&Draft<'_>]) -> Result<SourceFile, RegistrationRefusal> {
    let old = files.iter().find(|file| *file.path == *drafts[0].path);
    let old = old.expect("a table is compiled from these files");
    let entries: Vec<NewEntry> = drafts.iter().map(|draft| draft.entry.clone()).collect();
    let text =
        edit::insert(old, &entries).map_err(|problems| RegistrationRefusal::CannotInsert {
            problems,
            entry: entries
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n"),
        })?;
    Ok(SourceFile {
        path: Arc::clone(&old.path),
        bytes: text.into_bytes(),
    })
}

/// Writes a file for one entry. It belongs to the only site, or names its site if there are
/// several.
fn fragment(
    table: &Table,
    files: &[SourceFile],
    draft: &Draft<'_>,
) -> Result<SourceFile, RegistrationRefusal> {
    let path = Path::new(&draft.path);
    // Or the intended directory is a file.
    let is_there = |file: &SourceFile| path.starts_with(&*file.path);
    if files.iter().any(is_there) {
        let path = draft.path.clone();
        return Err(RegistrationRefusal::FileExists { path });
    }
    let base_url = match table.sites() {
        [_] => String::new(),
        _ => format!("base_url: {}\n", draft.site.base_url().as_str()),
    };
    Ok(SourceFile {
        path: draft.path.as_str().into(),
        bytes: format!("{base_url}mapping:\n{}\n", draft.entry).into_bytes(),
    })
}
