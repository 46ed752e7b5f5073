//! The text of the files of a table with entries edited.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::candidate::Candidate;
use super::refusal::EditRefusal;
use crate::edit::{EditedText, KeyEdit};
use crate::mapping::{Diagnostic, EntryOutline, Outline, SourceFile};
use crate::registry::decide::Base;

/// Returns the files that change, and which edits cannot be made, by their numbers.
pub(super) fn edited(
    base: &Base<'_>,
    candidates: &[&Candidate<'_>],
) -> (Vec<SourceFile>, Vec<(usize, EditRefusal)>) {
    let mut by_file: BTreeMap<_, Vec<&Candidate<'_>>> = BTreeMap::new();
    for candidate in candidates {
        let file = candidate.entry.place().file;
        by_file.entry(file).or_default().push(candidate);
    }
    let (mut written, mut refused) = (Vec::new(), Vec::new());
    for (path, candidates) in by_file {
        match file(base, &path, &candidates, &mut refused) {
            Ok(bytes) => written.push(SourceFile { path, bytes }),
            Err(problem) => refused.extend(candidates.iter().map(|it| {
                let problem = Box::new(problem.clone());
                (it.number, EditRefusal::CannotEdit(problem))
            })),
        }
    }
    (written, refused)
}

/// Returns the text of a file, and adds which edits of it cannot be made.
fn file(
    base: &Base<'_>,
    path: &Arc<str>,
    candidates: &[&Candidate<'_>],
    refused: &mut Vec<(usize, EditRefusal)>,
) -> Result<Vec<u8>, Diagnostic> {
    let outline = base.outline(path, candidates[0].entry.site())?;
    let text = EditedText::of(&outline);
    let mut text = text.map_err(|obstacle| obstacle.in_file(path))?;
    for candidate in candidates {
        let position = candidate.entry.place().position;
        let entries = &outline.entries;
        let number = entries.partition_point(|entry| entry.position < position);
        let keys = with_code(&outline, number, candidate);
        if let Err(obstacle) = text.edit(number, &keys) {
            let problem = Box::new(obstacle.in_file(path));
            refused.push((candidate.number, EditRefusal::CannotEdit(problem)));
        }
    }
    Ok(text.text().into_bytes())
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
