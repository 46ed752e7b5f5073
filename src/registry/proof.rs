//! The proof that a changed file makes of a table the same table and new entries, nothing else.
//!
//! It is had by compiling and comparing, whatever was done to the text.

use std::collections::HashMap;

use super::Refusal;
use crate::edit::NewEntry;
use crate::mapping::{
    ChangeKind, Diagnostic, Entry, Place, Retired, Site, SourceFile, Table, Target, Timestamp,
    compare, compile,
};

/// A table before entries are added.
pub(super) struct Before<'t> {
    pub(super) files: &'t [SourceFile],
    pub(super) table: &'t Table,
    /// What is wrong with it, failed tests included.
    pub(super) problems: &'t [Diagnostic],
}

/// What is known of entries once they are proved.
pub(super) struct Proof {
    /// Where each stands.
    pub(super) places: Vec<Place>,
    /// What is odd since they stand there.
    pub(super) warnings: Vec<Diagnostic>,
}

impl Before<'_> {
    /// Proves that the table with this file, changed or new, is the table with these entries.
    pub(super) fn prove(
        &self,
        site: &Site,
        file: &SourceFile,
        entries: &[NewEntry],
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
        let codes: usize = entries.iter().map(|entry| 1 + entry.aliases.len()).sum();
        let is_addition =
            changes.len() == codes && changes.iter().all(|it| it.kind == ChangeKind::Added);
        let mut sites = table.sites().iter();
        let site = sites.find(|it| it.base_url() == site.base_url());
        let site = site.filter(|_| is_addition).ok_or(Refusal::SideEffects)?;
        let place = |entry: &NewEntry| {
            let added = site.lookup(entry.own_code(site.scheme()).as_str())?;
            says(entry, added).then(|| added.place())
        };
        let places: Option<_> = entries.iter().map(place).collect();
        Ok(Proof {
            places: places.ok_or(Refusal::SideEffects)?,
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
    let retired = entry.retired.as_deref().map(|text| {
        let start = Timestamp::parse_start(text);
        start.map_or(Retired::Always, Retired::From)
    });
    let own = |url: &Option<Target<'_>>| url.as_ref().map(|url| url.as_str().to_owned());
    added.target().as_deref() == own(&entry.url).as_deref()
        && added
            .aliases()
            .eq(entry.aliases.iter().map(|it| it.as_str()))
        && added.title() == entry.title.as_deref()
        && added.owner() == entry.owner.as_deref()
        && added.tags().eq(entry.tags.iter().map(String::as_str))
        && entry.status.is_none_or(|it| it == added.status())
        && entry.forward.is_none_or(|it| it == added.forward())
        && (entry.cache_max_age).is_none_or(|it| it == added.cache_max_age())
        && added.expires() == expires
        && added.retired() == retired
        && added.archive() == own(&entry.archive).as_deref()
}
