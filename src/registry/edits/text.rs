//! The text of the files of a table with entries edited.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::candidate::Candidate;
use super::refusal::EditRefusal;
use crate::edit::{EditedText, KeyEdit};
use crate::mapping::{Diagnostic, EntryOutline, Outline, SourceFile};
use crate::registry::decide::Base;

/// Files with entries edited.
#[derive(Default)]
pub(super) struct EditedFiles {
    /// The files that change.
    pub(super) changed: Vec<SourceFile>,
    /// Which edits change no text, by their numbers.
    pub(super) unchanged: HashSet<usize>,
    /// Which edits cannot be made, by their numbers.
    pub(super) refused: Vec<(usize, EditRefusal)>,
}

/// Returns the files of a table with entries edited.
pub(super) fn edited(base: &Base<'_>, candidates: &[&Candidate<'_>]) -> EditedFiles {
    let mut by_file: BTreeMap<_, Vec<&Candidate<'_>>> = BTreeMap::new();
    for candidate in candidates {
        let file = candidate.entry.place().file;
        by_file.entry(file).or_default().push(candidate);
    }
    let mut edited = EditedFiles::default();
    for (path, candidates) in by_file {
        if let Err(problem) = file(base, &path, &candidates, &mut edited) {
            edited.refused.extend(candidates.iter().map(|it| {
                let problem = Box::new(problem.clone());
                (it.number, EditRefusal::CannotEdit(problem))
            }));
        }
    }
    edited
}

/// Adds a file with its entries edited.
fn file(
    base: &Base<'_>,
    path: &Arc<str>,
    candidates: &[&Candidate<'_>],
    edited: &mut EditedFiles,
) -> Result<(), Diagnostic> {
    let outline = base.outline(path, candidates[0].entry.site())?;
    let text = EditedText::of(&outline);
    let mut text = text.map_err(|obstacle| obstacle.in_file(path))?;
    let mut is_changed = false;
    for candidate in candidates {
        let position = candidate.entry.place().position;
        let entries = &outline.entries;
        let number = entries.partition_point(|entry| entry.position < position);
        let keys = with_code(&outline, number, candidate);
        match text.edit(number, &keys) {
            Ok(true) => is_changed = true,
            Ok(false) => {
                edited.unchanged.insert(candidate.number);
            }
            Err(obstacle) => {
                let problem = Box::new(obstacle.in_file(path));
                let refusal = EditRefusal::CannotEdit(problem);
                edited.refused.push((candidate.number, refusal));
            }
        }
    }
    if is_changed {
        edited.changed.push(SourceFile {
            path: Arc::clone(path),
            bytes: text.text().into_bytes(),
        });
    }
    Ok(())
}

/// Returns the edits of an entry, with its code if that was derived from a target that changes.
fn with_code(outline: &Outline<'_>, number: usize, candidate: &Candidate<'_>) -> Vec<KeyEdit> {
    let mut keys = candidate.keys.clone();
    let names_code = |entry: &EntryOutline<'_>| {
        let mut pairs = entry.pairs.iter();
        pairs.any(|pair| pair.key == "short-code" || pair.key == "number")
    };
    let is_derived = !outline.entries.get(number).is_some_and(names_code);
    if is_derived && keys.iter().any(|edit| edit.key == "url") {
        keys.push(KeyEdit::text(
            "short-code",
            Some(candidate.content.code.as_str()),
        ));
    }
    keys
}
