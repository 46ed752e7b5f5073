//! The text of the files of a table with entries edited.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::candidate::Candidate;
use super::refusal::EditRefusal;
use crate::edit::{EditedText, KeyEdit, edit_in_pieces};
use crate::mapping::{Diagnostic, EntryOutline, Outline, Place, Position, SourceFile};
use crate::registry::decide::Base;
use crate::registry::text::TextFile;

/// Files with entries edited.
#[derive(Default)]
pub(super) struct EditedFiles {
    /// The files that change.
    pub(super) changed: Vec<TextFile>,
    /// Which edits change no text, by their numbers.
    pub(super) unchanged: HashSet<usize>,
    /// Which edits cannot be made, by their numbers.
    pub(super) refused: Vec<(usize, EditRefusal)>,
}

/// A place where an entry is written.
type Writing<'c, 't> = (&'c Candidate<'t>, Position);

/// The further places of duplicated entries in a file, or why edits cannot be made, by their numbers.
type Repeated<'c, 't> = Result<Vec<Writing<'c, 't>>, Vec<(usize, EditRefusal)>>;

/// Returns the files of a table with entries edited, wherever they are written: a duplicated entry
/// must be edited in each place.
pub(super) fn edited(base: &Base<'_>, candidates: &[&Candidate<'_>]) -> EditedFiles {
    let mut by_file: BTreeMap<_, Vec<Writing<'_, '_>>> = BTreeMap::new();
    for &candidate in candidates {
        let Place { file, position } = candidate.entry.place();
        by_file.entry(file).or_default().push((candidate, position));
    }
    let mut edited = EditedFiles::default();
    for (file, repeated) in repeated(base, candidates) {
        match repeated {
            Ok(repeated) => by_file.entry(file).or_default().extend(repeated),
            // Without its text, it is not known which of them are duplicated there.
            Err(refusals) => edited.refused.extend(refusals),
        }
    }
    // The numbers of edits that change a text, or cannot.
    let mut decided = HashSet::new();
    for (path, writings) in by_file {
        if let Err(problem) = file(base, &path, &writings, &mut edited, &mut decided) {
            edited.refused.extend(writings.iter().map(|(candidate, _)| {
                let problem = Box::new(problem.clone());
                (candidate.number, EditRefusal::CannotEdit(problem))
            }));
        }
    }
    decided.extend(edited.refused.iter().map(|(number, _)| *number));
    let numbers = candidates.iter().map(|candidate| candidate.number);
    edited.unchanged = numbers.filter(|number| !decided.contains(number)).collect();
    edited
}

/// Returns the further places of duplicated entries, by file; or for a file that cannot be read why
/// the edits of entries that may be in it cannot be made.
fn repeated<'c, 't>(
    base: &Base<'_>,
    candidates: &[&'c Candidate<'t>],
) -> BTreeMap<Arc<str>, Repeated<'c, 't>> {
    let mut repeated: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for Place { file, position } in base.repeated_entries() {
        repeated.entry(file).or_default().push(position);
    }
    let found = repeated.into_iter().filter_map(|(file, positions)| {
        let is_here = |it: &&&Candidate<'_>| it.entry.site().files().any(|path| *path == **file);
        let here: Vec<&Candidate<'_>> = candidates.iter().filter(is_here).copied().collect();
        let scheme = here.first()?.entry.site().scheme();
        let refused = |refusal: EditRefusal| {
            let numbers = here.iter().map(|candidate| candidate.number);
            numbers.map(|it| (it, refusal.clone())).collect()
        };
        let writings = match base.whole_file(file) {
            None => Err(refused(EditRefusal::TextLost {
                path: file.to_string(),
            })),
            Some(whole) => match Outline::of_sound(&whole, scheme) {
                Ok(outline) => Ok(written_there(&outline, &positions, &here)),
                Err(problem) => Err(refused(EditRefusal::CannotEdit(Box::new(problem)))),
            },
        };
        Some((Arc::clone(file), writings))
    });
    found.collect()
}

/// Returns those candidates whose entry is at one of these positions of a file, with the position.
fn written_there<'c, 't>(
    outline: &Outline<'_>,
    positions: &[&Position],
    candidates: &[&'c Candidate<'t>],
) -> Vec<Writing<'c, 't>> {
    let writings = positions.iter().flat_map(|&&position| {
        let entry = outline.entries.get(number(outline, position));
        let same = candidates.iter().filter(move |candidate| {
            entry.is_some_and(|entry| entry.code.as_str() == candidate.content.code)
        });
        same.map(move |candidate| (*candidate, position))
    });
    writings.collect()
}

/// Adds a file with its entries edited, and the numbers of the edits that change it.
fn file(
    base: &Base<'_>,
    path: &Arc<str>,
    writings: &[Writing<'_, '_>],
    edited: &mut EditedFiles,
    changed: &mut HashSet<usize>,
) -> Result<(), Diagnostic> {
    let Some((first, _)) = writings.first() else {
        return Ok(());
    };
    if let Some(parts) = parts_in_pieces(base, path, writings)
        && let all = parts.iter().flat_map(|(_, parts)| parts)
        && let Some(new) = base.file(path).replaced(in_order(all.cloned().collect()))
    {
        let is_changed = |parts: &[TextPiece]| !parts.is_empty();
        let numbers = parts.iter().filter(|(_, parts)| is_changed(parts));
        changed.extend(numbers.map(|(number, _)| *number));
        if parts.iter().any(|(_, parts)| is_changed(parts)) {
            edited.changed.push(new);
        }
        return Ok(());
    }
    let Some(whole) = base.whole_file(path) else {
        edited.refused.extend(writings.iter().map(|(candidate, _)| {
            let path = path.to_string();
            (candidate.number, EditRefusal::TextLost { path })
        }));
        return Ok(());
    };
    let outline = Outline::of_sound(&whole, first.entry.site().scheme())?;
    let text = EditedText::of(&outline);
    let mut text = text.map_err(|obstacle| obstacle.in_file(path))?;
    let mut is_changed = false;
    for &(candidate, position) in writings {
        let number = number(&outline, position);
        let keys = with_code(outline.entries.get(number), candidate);
        match text.edit(number, &keys) {
            Ok(true) => {
                is_changed = true;
                changed.insert(candidate.number);
            }
            Ok(false) => {}
            Err(obstacle) => {
                let problem = Box::new(obstacle.in_file(path));
                let refusal = EditRefusal::CannotEdit(problem);
                edited.refused.push((candidate.number, refusal));
            }
        }
    }
    if is_changed {
        let file = SourceFile::new(Arc::clone(path), text.text().into_bytes());
        edited.changed.push(file.into());
    }
    Ok(())
}

/// What replaces a part of a text.
type TextPiece = (Range<usize>, String);

/// Returns what the edits replace, by their numbers, if each can be made in its piece of the file alone.
fn parts_in_pieces(
    base: &Base<'_>,
    path: &str,
    writings: &[Writing<'_, '_>],
) -> Option<Vec<(usize, Vec<TextPiece>)>> {
    let (first, _) = writings.first()?;
    base.with_pieces(path, first.entry.site(), |list| {
        let parts = writings.iter().map(|&(candidate, position)| {
            let keys_of = |entry: &EntryOutline<'_>| with_code(Some(entry), candidate);
            Some((candidate.number, edit_in_pieces(list, position, keys_of)?))
        });
        parts.collect()
    })
}

fn in_order(mut parts: Vec<TextPiece>) -> Vec<TextPiece> {
    parts.sort_by_key(|(range, _)| (range.start, range.end));
    parts
}

/// Returns the number of the entry at a position.
fn number(outline: &Outline<'_>, position: Position) -> usize {
    (outline.entries).partition_point(|entry| entry.position < position)
}

/// Returns the edits of an entry, with its code if that was derived from a target that changes.
fn with_code(entry: Option<&EntryOutline<'_>>, candidate: &Candidate<'_>) -> Vec<KeyEdit> {
    let mut keys = candidate.keys.clone();
    let names_code = |entry: &EntryOutline<'_>| {
        let mut pairs = entry.pairs.iter();
        pairs.any(|pair| pair.key == "short-code" || pair.key == "number")
    };
    let is_derived = !entry.is_some_and(names_code);
    if is_derived && keys.iter().any(|edit| edit.key == "url") {
        keys.push(KeyEdit::text(
            "short-code",
            Some(candidate.content.code.as_str()),
        ));
    }
    keys
}
