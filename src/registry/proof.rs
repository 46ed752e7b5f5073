//! The proof that a changed file makes of a table the same table and one entry more.
//!
//! It is had by compiling and comparing, whatever was done to the text.

use std::collections::HashMap;

use super::Refusal;
use crate::edit::NewEntry;
use crate::mapping::{
    ChangeKind, Diagnostic, Entry, Place, Site, SourceFile, Table, Timestamp, compare, compile,
};

/// A table before an entry is added.
pub(super) struct Before<'t> {
    pub(super) files: &'t [SourceFile],
    pub(super) table: &'t Table,
    /// What is wrong with it, failed tests included.
    pub(super) problems: &'t [Diagnostic],
}

/// What is known of an entry once it is proved.
pub(super) struct Proof {
    /// Where it stands.
    pub(super) place: Place,
    /// What is odd since it stands there.
    pub(super) warnings: Vec<Diagnostic>,
}

impl Before<'_> {
    /// Proves that the table with this file, changed or new, is the table with this entry.
    pub(super) fn prove(
        &self,
        site: &Site,
        file: &SourceFile,
        entry: &NewEntry,
        now: Timestamp,
    ) -> Result<Proof, Refusal> {
        let mut new = compile(&self.with(file));
        new.run_tests(now);
        let told = self.untold(new.diagnostics);
        let (problems, warnings) = told
            .into_iter()
            .partition::<Vec<_>, _>(Diagnostic::is_error);
        let Some(table) = new.table.filter(|_| problems.is_empty()) else {
            return Err(Refusal::Unsound { problems });
        };
        let changes = compare(self.table, &table);
        let is_addition = changes.len() == 1 + entry.aliases.len()
            && changes.iter().all(|it| it.kind == ChangeKind::Added);
        let code = entry.own_code(site.scheme());
        let own = changes.iter().find(|it| *it.code == *code.as_str());
        let added = own.and_then(|change| change.new);
        let is_it = |added: &Entry<'_>| {
            is_addition && added.site().base_url() == site.base_url() && says(entry, *added)
        };
        let added = added.filter(is_it).ok_or(Refusal::SideEffects)?;
        Ok(Proof {
            place: added.place(),
            warnings,
        })
    }

    /// Returns the files with this one.
    fn with(&self, file: &SourceFile) -> Vec<SourceFile> {
        let mut files = self.files.to_vec();
        match files.iter_mut().find(|old| old.path == file.path) {
            Some(old) => *old = file.clone(),
            None => files.push(file.clone()),
        }
        files
    }

    /// Returns the problems that were not told before, wherever in a file they were.
    fn untold(&self, mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let key = |it: &Diagnostic| (it.place.file.clone(), it.message.clone());
        let mut known: HashMap<_, u32> = HashMap::new();
        for problem in self.problems {
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

/// Tells whether an entry of a table says what a new one was to say.
fn says(entry: &NewEntry, added: Entry<'_>) -> bool {
    let expires = entry.expires.as_deref().and_then(Timestamp::parse_end);
    added.target().as_deref() == Some(entry.url.as_str())
        && added
            .aliases()
            .eq(entry.aliases.iter().map(|it| it.as_str()))
        && added.title() == entry.title.as_deref()
        && added.owner() == entry.owner.as_deref()
        && added.tags().eq(entry.tags.iter().map(String::as_str))
        && entry.status.is_none_or(|it| it == added.status())
        && entry.forward.is_none_or(|it| it == added.forward())
        && added.gone_from() == expires
}
