//! The table to which entries are added, and the files it was compiled from.

use std::collections::HashMap;
use std::sync::Arc;

use crate::edit::ListPieces;
use crate::mapping::{Diagnostic, Place, Rule, Site, SoundTable, SourceFile, Table, Timestamp};
use crate::registry::text::TextFile;

/// A table before entries are added.
pub(crate) struct Base<'f> {
    files: &'f [TextFile],
    table: Arc<Table>,
    /// The problems of the table, including failed tests.
    problems: Vec<Diagnostic>,
}

impl<'f> Base<'f> {
    /// Takes the table that was compiled from these files.
    pub(crate) fn new(files: &'f [TextFile], compiled: &SoundTable, now: Timestamp) -> Self {
        let warnings = compiled.warnings.iter().cloned();
        Self {
            files,
            table: Arc::clone(&compiled.table),
            problems: warnings.chain(compiled.failed_tests(now)).collect(),
        }
    }

    pub(crate) fn files(&self) -> &'f [TextFile] {
        self.files
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the file at a path, which is one of the table.
    pub(crate) fn file(&self, path: &str) -> &'f TextFile {
        let file = self.files.iter().find(|file| *file.path == *path);
        file.expect("a table is compiled from these files")
    }

    /// Returns the file at a path as a whole, whose outline takes more memory than the table; `None` if
    /// its text is not there any more.
    pub(crate) fn whole_file(&self, path: &str) -> Option<SourceFile> {
        self.file(path).whole()
    }

    /// Calls a function with the list of entries of a file of a site, if it is known to be one in pieces.
    pub(crate) fn with_pieces<T>(
        &self,
        path: &str,
        site: &Site,
        then: impl FnOnce(&ListPieces<'_>) -> Option<T>,
    ) -> Option<T> {
        let file = self.file(path);
        let read = |range| file.read_text(range);
        let list = ListPieces {
            cut: file.cut(),
            scheme: site.scheme(),
            read: &read,
        };
        let is_in_pieces = site.is_in_pieces(path, file.cut());
        is_in_pieces.then(|| then(&list)).flatten()
    }

    /// Returns the places of entries that are the same as one before them.
    pub(crate) fn repeated_entries(&self) -> impl Iterator<Item = &Place> {
        let problems = self.problems.iter();
        let repeated = problems.filter(|problem| problem.rule == Rule::EntryTwice);
        repeated.map(|problem| &problem.place)
    }

    /// Returns those problems that the table does not already have, regardless of their place in a
    /// file.
    pub(crate) fn unreported(&self, mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let key = |it: &Diagnostic| (it.place.file.clone(), it.rule, it.message.clone());
        let mut known: HashMap<_, u32> = HashMap::new();
        for problem in &self.problems {
            *known.entry(key(problem)).or_default() += 1;
        }
        problems.retain(|problem| match known.get_mut(&key(problem)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
        problems
    }
}

/// Returns files, with `written` replacing those of the same path or appended.
pub(crate) fn with(files: &[TextFile], written: &[TextFile]) -> Vec<TextFile> {
    let mut new: HashMap<_, _> = written.iter().map(|file| (&file.path, file)).collect();
    let in_place = files.iter().map(|old| new.remove(&old.path).unwrap_or(old));
    let mut with: Vec<_> = in_place.cloned().collect();
    let added = written.iter().filter(|file| new.contains_key(&file.path));
    with.extend(added.cloned());
    with
}
