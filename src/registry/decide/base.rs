//! The table to which entries are added, and the files it was compiled from.

use std::collections::HashMap;
use std::sync::Arc;

use crate::mapping::{
    Diagnostic, Outline, Place, Rule, Site, SoundTable, SourceFile, Table, Timestamp,
};

/// A table before entries are added.
pub(crate) struct Base<'f> {
    files: &'f [SourceFile],
    table: Arc<Table>,
    /// The problems of the table, including failed tests.
    problems: Vec<Diagnostic>,
}

impl<'f> Base<'f> {
    /// Takes the table that was compiled from these files.
    pub(crate) fn new(files: &'f [SourceFile], compiled: &SoundTable, now: Timestamp) -> Self {
        let warnings = compiled.warnings.iter().cloned();
        Self {
            files,
            table: Arc::clone(&compiled.table),
            problems: warnings.chain(compiled.failed_tests(now)).collect(),
        }
    }

    pub(crate) fn files(&self) -> &'f [SourceFile] {
        self.files
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the outline of a file of a site.
    ///
    /// It takes more memory than the table, so it is not kept while another table is compiled.
    pub(crate) fn outline(&self, path: &str, site: &Site) -> Result<Outline<'f>, Diagnostic> {
        let file = self.files.iter().find(|file| *file.path == *path);
        let file = file.expect("a table is compiled from these files");
        Outline::of_sound(file, site.scheme())
    }

    /// Returns the places of entries that are the same as one before them.
    pub(crate) fn repeated_entries(&self) -> impl Iterator<Item = &Place> {
        let problems = self.problems.iter();
        let repeated = problems.filter(|problem| problem.rule == Rule::EntryTwice);
        repeated.map(|problem| &problem.place)
    }

    /// Returns those of some problems that the table does not have, wherever in a file they are.
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
pub(crate) fn with(files: &[SourceFile], written: &[SourceFile]) -> Vec<SourceFile> {
    let mut new: HashMap<_, _> = written.iter().map(|file| (&file.path, file)).collect();
    let in_place = files.iter().map(|old| new.remove(&old.path).unwrap_or(old));
    let mut with: Vec<_> = in_place.cloned().collect();
    let added = written.iter().filter(|file| new.contains_key(&file.path));
    with.extend(added.cloned());
    with
}
