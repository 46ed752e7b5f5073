//! Merging of two versions of a common base, by meaning if possible.

use super::account::Account;
use super::envelope::Envelope;
use super::items::Items;
use super::merged::{Conflict, MergeError, Merged, NotByMeaning};
use super::parts::Parts;
use super::piece::Rendering;
use super::sides::Sides;
use super::{around, fallback, indentation, items, placed};
use crate::edit::layout::Layout;
use crate::mapping::{Diagnostic, SourceFile, case_of};

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
fn by_meaning(sides: Sides<&SourceFile>) -> Result<Merged, NotByMeaning> {
    let opened = sides.map(Envelope::open).all();
    let opened = opened.ok_or(NotByMeaning::Lines)?;
    let envelope = Envelope::merged(opened.each().map(|(envelope, _)| *envelope));
    let (text, conflicts) = merge_lines(&opened.map(|(_, file)| file))?;
    Ok(Merged {
        text: envelope.close(text),
        conflicts,
        by_lines: None,
    })
}

/// Merges files without their envelopes.
fn merge_lines(files: &Sides<SourceFile>) -> Result<(String, Vec<Conflict>), NotByMeaning> {
    let read = |file, side| Layout::read(file).map_err(|problems| unreadable(side, problems));
    let layouts = Sides {
        base: read(&files.base, "the common ancestor")?,
        ours: read(&files.ours, "ours")?,
        theirs: read(&files.theirs, "theirs")?,
    };
    if let Some(files) = indentation::in_one_column(&layouts, files)? {
        return merge_lines(&files);
    }
    let items = layouts.each().map(Items::of).all();
    let mut items = items.ok_or(NotByMeaning::CodeTwice)?;
    items::recognise(&items.base, &mut items.ours);
    items::recognise(&items.base, &mut items.theirs);
    let result = Parts {
        head: around::merge(items.each().map(|it| it.head))?,
        placed: placed::place(&items, files.each().map(case_of)),
        tail: around::merge(items.each().map(|it| &*it.tail))?,
        dash: indentation::dash(&layouts.ours),
    };
    let accounts = layouts.each().map(Account::of);
    if result.is_complete(&accounts) {
        Ok(result.write(Rendering::Marked))
    } else {
        Err(NotByMeaning::Unbalanced)
    }
}

fn unreadable(side: &'static str, problems: Vec<Diagnostic>) -> NotByMeaning {
    let problem = problems.into_iter().find(Diagnostic::is_error);
    NotByMeaning::Unreadable { side, problem }
}
