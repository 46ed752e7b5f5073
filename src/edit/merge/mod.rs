//! Merging of two changed versions of a document by meaning.
//!
//! Each version is split into items, which are matched by code; the merged result is read again
//! from scratch, and is accepted only if nothing was lost or invented. Whatever cannot be merged in
//! this way is merged by lines, as git does without a driver. Invariant: no line of either side is
//! dropped unless the other side removed it; in doubt, it is a conflict.

mod account;
mod around;
mod entry;
mod envelope;
mod fallback;
mod indentation;
mod items;
mod order;
mod parts;
mod piece;
mod placed;
mod readdressed;
mod sides;
mod text;

use self::account::Account;
use self::envelope::Envelope;
use self::items::Items;
use self::parts::Parts;
use self::piece::Rendering;
use self::sides::Sides;
use super::layout::Layout;
use crate::mapping::{Diagnostic, SourceFile};

/// The result of a merge.
#[derive(Debug)]
pub struct Merged {
    /// The content of the file.
    pub text: Vec<u8>,
    /// The conflicts that a person has to settle, in line order; empty if the merge is clean.
    pub conflicts: Vec<Conflict>,
    /// The reason why it was merged by lines, if it could not be merged by meaning.
    pub by_lines: Option<String>,
}

/// A conflict that a person has to settle.
#[derive(Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The line of the result on which it begins, from 1.
    pub line: usize,
    /// A description of the conflict, and what to do.
    pub message: String,
}

impl Conflict {
    /// Returns the conflicts that are marked in a text beginning on a line.
    fn marked(text: &str, line: usize, why: &str) -> Vec<Self> {
        let lines = text.lines().zip(line..);
        let markers = lines.filter(|(text, _)| text.starts_with("<<<<<<< "));
        let conflicts = markers.map(|(_, line)| Self {
            line,
            message: format!("{why}: keep what belongs, and remove the marker lines"),
        });
        conflicts.collect()
    }
}

/// The reason why nothing could be merged.
#[derive(Debug, thiserror::Error)]
#[error("cannot merge by lines")]
pub struct MergeError(#[from] git2::Error);

/// Merges two versions of a common base.
///
/// # Errors
///
/// If there is too much text to be merged in any way.
pub fn merge(
    base: &SourceFile,
    ours: &SourceFile,
    theirs: &SourceFile,
) -> Result<Merged, MergeError> {
    let sides = Sides { base, ours, theirs };
    if let Some(text) = sides.map(|file| &file.bytes).settled() {
        return Ok(Merged {
            text: text.clone(),
            conflicts: Vec::new(),
            by_lines: None,
        });
    }
    by_meaning(sides).or_else(|reason| fallback::by_lines(sides, reason))
}

/// Merges by meaning, or returns the reason why that cannot be done.
fn by_meaning(sides: Sides<&SourceFile>) -> Result<Merged, String> {
    let opened = sides.map(Envelope::open).all();
    let opened = opened.ok_or("lines end in different ways, or are no text")?;
    let envelope = Envelope::merged(opened.each().map(|(envelope, _)| *envelope));
    let (text, conflicts) = merge_lines(&opened.map(|(_, file)| file))?;
    Ok(Merged {
        text: envelope.close(text),
        conflicts,
        by_lines: None,
    })
}

/// Merges files without their envelopes.
fn merge_lines(files: &Sides<SourceFile>) -> Result<(String, Vec<Conflict>), String> {
    let read = |file, side| Layout::read(file).map_err(|problems| reported(side, problems));
    let layouts = Sides {
        base: read(&files.base, "the common ancestor")?,
        ours: read(&files.ours, "ours")?,
        theirs: read(&files.theirs, "theirs")?,
    };
    if let Some(files) = indentation::in_one_column(&layouts, files)? {
        return merge_lines(&files);
    }
    let items = layouts.each().map(Items::of).all();
    let mut items = items.ok_or("a code is given twice in one version")?;
    items::recognise(&items.base, &mut items.ours);
    items::recognise(&items.base, &mut items.theirs);
    let result = Parts {
        head: around::merge(items.each().map(|it| it.head))?,
        placed: placed::place(&items),
        tail: around::merge(items.each().map(|it| &*it.tail))?,
        dash: indentation::dash(&layouts.ours),
    };
    let accounts = layouts.each().map(Account::of);
    if result.is_sound(&accounts) {
        Ok(result.write(Rendering::Marked))
    } else {
        Err("what each side changed does not fit together".to_owned())
    }
}

fn reported(side: &str, problems: Vec<Diagnostic>) -> String {
    let Some(problem) = problems.into_iter().find(Diagnostic::is_error) else {
        return format!("{side} cannot be read");
    };
    format!(
        "line {} of {side}: {}",
        problem.place.position.line, problem.message
    )
}
