//! Insertion of additions into the files of a table, all at once.

use std::path::Path;
use std::sync::Arc;

use super::addition::Addition;
use super::base::Base;
use super::refusal::RegistrationRefusal;
use crate::edit::{self, NewEntry};
use crate::git::in_parallel;
use crate::mapping::{Diagnostic, Outline, SourceFile, Table};
use crate::registry::text::TextFile;

/// Returns the files that change, or are new, with the entries of all additions in them.
///
/// # Errors
///
/// If an entry cannot be inserted into a file, or a new file already exists.
pub(crate) fn insert(
    base: &Base<'_>,
    additions: &[&Addition<'_>],
) -> Result<Vec<TextFile>, RegistrationRefusal> {
    let mut by_file = Vec::new();
    let mut waiting = additions.to_vec();
    while let Some(&first) = waiting.first() {
        let (here, elsewhere): (Vec<_>, _) = waiting
            .into_iter()
            .partition(|addition| addition.path == first.path);
        waiting = elsewhere;
        by_file.push((first, here));
    }
    let written = in_parallel(&by_file, |(first, here)| match first.is_new_file {
        true => fragment(base, first),
        false => insert_into(base, &first.path, here),
    });
    written.into_iter().collect()
}

fn insert_into(
    base: &Base<'_>,
    path: &Arc<str>,
    additions: &[&Addition<'_>],
) -> Result<TextFile, RegistrationRefusal> {
    let entries: Vec<_> = additions.iter().map(|addition| &addition.entry).collect();
    let site = additions[0].site;
    let is_sorted_from = |piece| site.is_sorted_from(path, piece);
    let inserted = base.with_pieces(path, site, |list| {
        let parts = edit::insert_in_pieces(list, &entries, &is_sorted_from)?;
        base.file(path).replaced(parts)
    });
    if let Some(inserted) = inserted {
        return Ok(inserted);
    }
    let lost = || RegistrationRefusal::TextLost {
        path: path.to_string(),
    };
    let file = base.whole_file(path).ok_or_else(lost)?;
    let text = Outline::of_sound(&file, site.scheme()).and_then(|outline| {
        let inserted = edit::insert(&outline, &entries);
        inserted.map_err(|obstacle| obstacle.in_file(path))
    });
    let text = text.map_err(|problem| cannot_insert(problem, &entries))?;
    Ok(SourceFile::new(Arc::clone(path), text.into_bytes()).into())
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
fn fragment(base: &Base<'_>, addition: &Addition<'_>) -> Result<TextFile, RegistrationRefusal> {
    let path = Path::new(&*addition.path);
    // Or the intended directory is a file.
    let is_there = |file: &TextFile| path.starts_with(&*file.path);
    if base.files().iter().any(is_there) {
        let path = addition.path.to_string();
        return Err(RegistrationRefusal::FileExists { path });
    }
    let bytes = fragment_text(base.table(), addition).into_bytes();
    Ok(SourceFile::new(Arc::clone(&addition.path), bytes).into())
}

/// Returns the text of a file for one entry.
pub(super) fn fragment_text(table: &Table, addition: &Addition<'_>) -> String {
    let base_url = match table.sites() {
        [_] => String::new(),
        _ => format!("base_url: {}\n", addition.site.base_url().as_str()),
    };
    format!("{base_url}mapping:\n{}\n", addition.entry)
}
