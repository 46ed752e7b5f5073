//! The proof that changed files add exactly the new entries to a table.
//!
//! It compiles and compares, independently of how the text was changed.

use std::collections::HashMap;

use super::refusal::{Holder, RegistrationRefusal};
use super::request::MayShadow;
use crate::edit::NewEntry;
use crate::mapping::{
    ChangeKind, Diagnostic, Entry, Place, Retired, Site, SourceFile, Statement, Table, Target,
    Timestamp, compare, compile, shadowed_by,
};

/// A table before entries are added.
pub(crate) struct Base<'f> {
    pub(crate) files: &'f [SourceFile],
    pub(crate) table: Table,
    /// The most bytes of text that the table may have.
    max_bytes: u64,
    /// The problems of the table, including failed tests.
    problems: Vec<Diagnostic>,
}

/// The facts about entries that are proved.
pub(crate) struct Proof {
    /// The place of each entry.
    pub(crate) places: Vec<Place>,
    /// The warnings that the new entries cause.
    pub(crate) warnings: Vec<Diagnostic>,
    /// The entries of the table before that the new codes shadow.
    pub(crate) shadowings: Vec<Shadowing>,
}

/// An entry whose published path a new entry changes.
pub(crate) struct Shadowing {
    /// The number of the new entry, among those that were added.
    pub(crate) number: usize,
    /// Its code that shadows the path.
    pub(crate) code: String,
    /// The trailer of a commit that states that the shadowing is intended.
    pub(crate) trailer: String,
    /// The path.
    path: String,
    holder: Box<Holder>,
    /// The owner of the entry.
    owner: Option<String>,
}

impl Shadowing {
    /// Returns why the new entry is refused, unless the shadowing is allowed.
    pub(crate) fn refusal(&self, may_shadow: &MayShadow) -> Option<RegistrationRefusal> {
        let is_allowed = may_shadow.allows(self.owner.as_deref());
        (!is_allowed).then(|| RegistrationRefusal::Shadows {
            code: self.code.clone(),
            path: self.path.clone(),
            holder: self.holder.clone(),
        })
    }
}

impl<'f> Base<'f> {
    /// Compiles the table of these files, of at most `max_bytes` in total.
    ///
    /// # Errors
    ///
    /// If it has errors.
    pub(crate) fn of(
        files: &'f [SourceFile],
        max_bytes: u64,
        now: Timestamp,
    ) -> Result<Self, RegistrationRefusal> {
        let mut compiled = compile(files);
        compiled.run_tests(now);
        match compiled.table {
            Some(table) => Ok(Self {
                files,
                table,
                max_bytes,
                problems: compiled.diagnostics,
            }),
            None => Err(RegistrationRefusal::TableHasErrors(compiled.diagnostics)),
        }
    }

    /// Proves that the table with these files, changed or new, is the old table plus these entries
    /// of its sites, and can be read again.
    pub(crate) fn prove(
        &self,
        written: &[SourceFile],
        added: &[(&Site, &NewEntry)],
        now: Timestamp,
    ) -> Result<Proof, RegistrationRefusal> {
        let files = with(self.files, written);
        let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
        if bytes as u64 > self.max_bytes {
            let max_bytes = self.max_bytes;
            return Err(RegistrationRefusal::TooLarge { max_bytes });
        }
        let mut new = compile(&files);
        new.run_tests(now);
        let reported = self.unreported(new.diagnostics);
        let (problems, warnings) = reported
            .into_iter()
            .partition::<Vec<_>, _>(Diagnostic::is_error);
        let Some(table) = new.table.filter(|_| problems.is_empty()) else {
            return Err(RegistrationRefusal::Unsound { problems });
        };
        let changes = compare(&self.table, &table);
        let codes: usize = added.iter().map(|(_, new)| 1 + new.aliases.len()).sum();
        if changes.len() != codes || changes.iter().any(|it| it.kind != ChangeKind::Added) {
            return Err(RegistrationRefusal::SideEffects);
        }
        let place = |(site, entry): &(&Site, &NewEntry)| {
            let site = table.counterpart(site)?;
            let added = site.lookup(entry.own_code(site.scheme()).as_str())?;
            says(entry, added).then(|| added.place())
        };
        let places: Option<_> = added.iter().map(place).collect();
        Ok(Proof {
            places: places.ok_or(RegistrationRefusal::SideEffects)?,
            warnings,
            shadowings: self.shadowings(&table, added, now),
        })
    }

    /// Returns the paths that the codes of new entries shadow.
    fn shadowings(
        &self,
        table: &Table,
        added: &[(&Site, &NewEntry)],
        now: Timestamp,
    ) -> Vec<Shadowing> {
        let mut shadowings = Vec::new();
        let has_several_sites = table.sites().len() > 1;
        let mut by_site: HashMap<_, Vec<_>> = HashMap::new();
        for (number, (site, entry)) in added.iter().enumerate() {
            let of_site = by_site.entry(site.base_url().as_str()).or_default();
            of_site.push((number, entry));
        }
        for new in table.sites() {
            let Some(here) = by_site.get(new.base_url().as_str()) else {
                continue;
            };
            let Some(old) = self.table.counterpart(new) else {
                continue;
            };
            let mut numbers = HashMap::new();
            for &(number, entry) in here {
                let own = entry.own_code(new.scheme()).into_owned();
                let codes = std::iter::once(own).chain(entry.aliases.iter().cloned());
                numbers.extend(codes.map(|code| (code.to_string(), number)));
            }
            let mut codes: Vec<_> = numbers.keys().collect();
            codes.sort_unstable();
            let found = shadowed_by(old, new, &codes).into_iter();
            shadowings.extend(found.map(|it| Shadowing {
                number: numbers[&it.code],
                trailer: Statement::trailer(new, &it.code, has_several_sites),
                holder: Holder::of(it.old, now),
                owner: it.old.owner().map(str::to_owned),
                path: it.path,
                code: it.code,
            }));
        }
        shadowings
    }

    /// Returns the problems that the table did not have before, wherever in a file they were.
    fn unreported(&self, mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let key = |it: &Diagnostic| (it.place.file.clone(), it.message.clone());
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
    let behind = written.iter().filter(|file| new.contains_key(&file.path));
    with.extend(behind.cloned());
    with
}

/// Returns whether an entry of a table matches what a new one was to contain.
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
