//! The proof that changed files contain exactly the edits: it compiles and compares, independently
//! of how the text was changed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::candidate::Candidate;
use super::refusal::EditRefusal;
use crate::mapping::{ChangeKind, Diagnostic, Statement, Table, Timestamp, compare, shadowed_by};
use crate::registry::decide::{Base, Holder, ProvedTable, with};
use crate::registry::text::{TextFile, compile_text};

/// The facts about edits that are proved.
pub(super) struct EditProof {
    /// The table with the edits.
    pub(super) table: ProvedTable,
    /// The warnings that they cause.
    pub(super) warnings: Vec<Diagnostic>,
    /// The trailers of a commit that state that the shadowing by an edit is intended, by its number.
    pub(super) trailers: BTreeMap<usize, BTreeSet<String>>,
}

/// Proves that the table with these changed files is the old one with these edits, has at most
/// `max_bytes` of text, and can be read again.
pub(super) fn prove(
    base: &Base<'_>,
    written: &[TextFile],
    edited: &[&Candidate<'_>],
    max_bytes: u64,
    now: Timestamp,
) -> Result<EditProof, EditRefusal> {
    let files = with(base.files(), written);
    if files.iter().map(TextFile::size).sum::<u64>() > max_bytes {
        return Err(EditRefusal::TooLarge { max_bytes });
    }
    let lost = || EditRefusal::TextLost {
        path: files.first().map_or("", |file| &file.path).to_owned(),
    };
    let compiled = compile_text(&files, Some(base.table())).ok_or_else(lost)?;
    let compiled = compiled.into_sound().map_err(|diagnostics| {
        let mut problems = base.unreported(diagnostics);
        problems.retain(Diagnostic::is_error);
        EditRefusal::Unsound { problems }
    })?;
    let found = compiled.warnings.iter().cloned();
    let reported = base.unreported(found.chain(compiled.failed_tests(now)).collect());
    let (problems, warnings) = (reported.into_iter()).partition::<Vec<_>, _>(Diagnostic::is_error);
    if !problems.is_empty() {
        return Err(EditRefusal::Unsound { problems });
    }
    if !is_intended(base.table(), &compiled.table, edited) {
        return Err(EditRefusal::SideEffects);
    }
    check_targets(&compiled.table, edited, now)?;
    let trailers = shadowing(base.table(), &compiled.table, edited, now)?;
    let table = ProvedTable {
        files,
        table: compiled,
    };
    Ok(EditProof {
        table,
        warnings,
        trailers,
    })
}

/// Returns whether the edited entries have the intended content, and no other entry has changed.
fn is_intended(before: &Table, after: &Table, edited: &[&Candidate<'_>]) -> bool {
    let is_there = |candidate: &&Candidate<'_>| {
        let site = after.counterpart(candidate.entry.site());
        let entry = site.and_then(|site| site.lookup(&candidate.content.code));
        entry.is_some_and(|entry| candidate.content.is_that_of(entry))
    };
    let entries = edited.iter().map(|candidate| {
        let site = candidate.entry.site().base_url().as_str();
        (site, candidate.content.code.as_str())
    });
    let entries: HashSet<_> = entries.collect();
    let is_edited = |entry: crate::mapping::Entry<'_>| {
        entries.contains(&(entry.site().base_url().as_str(), &*entry.code()))
    };
    use ChangeKind::{Added, Removed, Renamed};
    let changes = compare(before, after);
    after.len() == before.len()
        && edited.iter().all(is_there)
        && changes.iter().all(|change| {
            let is_of_edited = change.new.or(change.old).is_some_and(is_edited);
            is_of_edited && !matches!(change.kind, Added | Removed | Renamed)
        })
}

/// Refuses a new target that another live link of the site has, unless that is allowed.
fn check_targets(
    after: &Table,
    edited: &[&Candidate<'_>],
    now: Timestamp,
) -> Result<(), EditRefusal> {
    for candidate in edited.iter().filter(|it| !it.edit.may_share_target) {
        let before = candidate.entry.target();
        let (Some(target), Some(site)) = (
            &candidate.content.target,
            after.counterpart(candidate.entry.site()),
        ) else {
            continue;
        };
        if before.as_deref() == Some(target) {
            continue;
        }
        let entries = site.leading_to(target).into_iter();
        let mut others = entries.filter(|it| it.code() != candidate.content.code.as_str());
        if let Some(other) = others.find(|other| !other.is_gone(now)) {
            let holder = Holder::of(other, now);
            return Err(EditRefusal::AlreadyRegistered(holder));
        }
    }
    Ok(())
}

/// Returns the trailers for links that new codes or new forwarding shadow, or an error if that is
/// not allowed.
fn shadowing(
    before: &Table,
    after: &Table,
    edited: &[&Candidate<'_>],
    now: Timestamp,
) -> Result<BTreeMap<usize, BTreeSet<String>>, EditRefusal> {
    let mut trailers: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let has_several_sites = after.sites().len() > 1;
    for new in after.sites() {
        let here = |it: &&&Candidate<'_>| it.entry.site().base_url() == new.base_url();
        let codes = edited.iter().filter(here).flat_map(|candidate| {
            let codes = candidate.content.codes();
            codes.map(move |code| (code, *candidate))
        });
        let codes: HashMap<_, _> = codes.collect();
        let Some(old) = before.counterpart(new) else {
            continue;
        };
        let mut names: Vec<_> = codes.keys().collect();
        names.sort_unstable();
        for shadowed in shadowed_by(old, new, &names) {
            let candidate = codes[shadowed.code.as_str()];
            if !(candidate.edit.may_shadow).allows(shadowed.old.owner()) {
                return Err(EditRefusal::Shadows {
                    holder: Holder::of(shadowed.old, now),
                    path: shadowed.path,
                    code: shadowed.code,
                });
            }
            let trailer = Statement::trailer(new, &shadowed.code, has_several_sites);
            let own = trailers.entry(candidate.number).or_default();
            own.insert(trailer);
        }
    }
    Ok(trailers)
}
