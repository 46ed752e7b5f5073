//! The proof that changed files add exactly the new entries to a table.
//!
//! It compiles and compares, independently of how the text was changed.

use std::collections::HashMap;

use super::addition::Addition;
use super::base::{Base, with};
use super::refusal::{Holder, RegistrationRefusal};
use super::request::MayShadow;
use crate::edit::NewEntry;
use crate::mapping::{
    ChangeKind, Diagnostic, Entry, SoundTable, Statement, Table, Target, Timestamp, WrittenDate,
    WrittenRetirement, compare, shadowed_by,
};
use crate::registry::text::{TextFile, compile_text};

/// A table with new entries, and the files that it was compiled from.
#[derive(Debug)]
pub struct ProvedTable {
    /// All its files.
    pub files: Vec<TextFile>,
    /// The table.
    pub table: SoundTable,
}

/// The facts about entries that are proved.
pub(crate) struct Proof {
    /// The table with the entries.
    pub(crate) proved: ProvedTable,
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

/// Proves that the table with these files, changed or new, is the old table plus these entries, has
/// at most `max_bytes` of text, and can be read again.
pub(crate) fn prove(
    base: &Base<'_>,
    written: &[TextFile],
    added: &[&Addition<'_>],
    max_bytes: u64,
    now: Timestamp,
) -> Result<Proof, RegistrationRefusal> {
    let files = with(base.files(), written);
    if files.iter().map(TextFile::size).sum::<u64>() > max_bytes {
        return Err(RegistrationRefusal::TooLarge { max_bytes });
    }
    let Some(compiled) = compile_text(&files, Some(base.table())) else {
        let path = base
            .files()
            .first()
            .map_or("", |file| &file.path)
            .to_owned();
        return Err(RegistrationRefusal::TextLost { path });
    };
    let compiled = match compiled.into_sound() {
        Ok(compiled) => compiled,
        Err(diagnostics) => {
            let mut problems = base.unreported(diagnostics);
            problems.retain(Diagnostic::is_error);
            return Err(RegistrationRefusal::Unsound { problems });
        }
    };
    let found = compiled.warnings.iter().cloned();
    let reported = base.unreported(found.chain(compiled.failed_tests(now)).collect());
    let (problems, warnings) = reported
        .into_iter()
        .partition::<Vec<_>, _>(Diagnostic::is_error);
    if !problems.is_empty() {
        return Err(RegistrationRefusal::Unsound { problems });
    }
    let table = &compiled.table;
    let changes = compare(base.table(), table);
    let codes: usize = added.iter().map(|new| 1 + new.entry.aliases.len()).sum();
    if changes.len() != codes || changes.iter().any(|it| it.kind != ChangeKind::Added) {
        return Err(RegistrationRefusal::SideEffects);
    }
    let is_there = |addition: &&Addition<'_>| {
        let site = table.counterpart(addition.site);
        let added = site.and_then(|site| site.lookup(addition.code().as_str()));
        added.is_some_and(|added| says(&addition.entry, added))
    };
    if !added.iter().all(is_there) {
        return Err(RegistrationRefusal::SideEffects);
    }
    let shadowings = shadowings(base.table(), table, added, now);
    Ok(Proof {
        proved: ProvedTable {
            files,
            table: compiled,
        },
        warnings,
        shadowings,
    })
}

/// Returns the paths that the codes of new entries shadow.
fn shadowings(
    before: &Table,
    after: &Table,
    added: &[&Addition<'_>],
    now: Timestamp,
) -> Vec<Shadowing> {
    let mut shadowings = Vec::new();
    let has_several_sites = after.sites().len() > 1;
    let mut by_site: HashMap<_, Vec<_>> = HashMap::new();
    for (number, addition) in added.iter().enumerate() {
        let of_site = by_site.entry(addition.site.base_url().as_str());
        of_site.or_default().push((number, addition));
    }
    for new in after.sites() {
        let Some(here) = by_site.get(new.base_url().as_str()) else {
            continue;
        };
        let Some(old) = before.counterpart(new) else {
            continue;
        };
        let mut numbers = HashMap::new();
        for (number, addition) in here {
            numbers.extend(addition.codes().map(|code| (code.to_string(), *number)));
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

/// Returns whether an entry of a table has the content of a new one.
fn says(entry: &NewEntry, added: Entry<'_>) -> bool {
    let expires = entry.expires.as_ref().map(WrittenDate::end);
    let retired = entry.retired.as_ref().map(WrittenRetirement::meaning);
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
        && added.below() == own(&entry.below).as_deref()
        && (entry.cache_max_age).is_none_or(|it| it == added.cache_max_age())
        && added.expires() == expires
        && added.retired() == retired
        && added.archive() == own(&entry.archive).as_deref()
        && (added.variants().map(|it| it.to_string()))
            .eq(entry.variants.iter().map(ToString::to_string))
}
