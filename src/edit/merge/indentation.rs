//! Moving lines to the left and to the right.
//!
//! The dashes of a list share one column, which each side may have chosen differently. Invariant:
//! only leading spaces are added and removed, and no line is moved that has too few of them.

use super::account::Account;
use super::items::{head_len, loose_len};
use super::merged::NotByMeaning;
use super::sides::Sides;
use crate::edit::layout::Layout;
use crate::mapping::SourceFile;

/// Returns the column of the dashes, counted from 0, if there are any.
pub(super) fn dash(layout: &Layout<'_>) -> Option<usize> {
    let entry = layout.sections.first()?.entries.first()?;
    entry.body.find('-')
}

/// Returns the files with their dashes in the column of ours; `None` if they are already there.
///
/// # Errors
///
/// Returns the reason why they cannot be moved there.
pub(super) fn in_one_column(
    layouts: &Sides<Layout<'_>>,
    files: &Sides<SourceFile>,
) -> Result<Option<Sides<SourceFile>>, NotByMeaning> {
    let dashes = layouts.each().map(dash);
    let to = dashes
        .ours
        .or(dashes.theirs)
        .or(dashes.base)
        .unwrap_or_default();
    let stay = |dash: Option<usize>| dash.is_none_or(|dash| dash == to);
    if stay(dashes.base) && stay(dashes.theirs) {
        return Ok(None);
    }
    let moved = |layout: &Layout<'_>, file: &SourceFile| {
        if layout.sections.is_empty() {
            return Ok(file.clone());
        }
        let text = with_dash(layout, to);
        let text = text.ok_or(NotByMeaning::Indentation)?;
        Ok::<_, NotByMeaning>(SourceFile {
            path: file.path.clone(),
            bytes: text.into_bytes(),
        })
    };
    let files = Sides {
        base: moved(&layouts.base, &files.base)?,
        ours: files.ours.clone(),
        theirs: moved(&layouts.theirs, &files.theirs)?,
    };
    let is_same = |before: &Layout<'_>, after: &SourceFile| {
        let facts = |layout: &Layout<'_>| Account::of(layout);
        Layout::read(after).is_ok_and(|after| facts(&after) == facts(before))
    };
    if is_same(&layouts.base, &files.base) && is_same(&layouts.theirs, &files.theirs) {
        Ok(Some(files))
    } else {
        Err(NotByMeaning::Indentation)
    }
}

/// Returns a document with its dashes in another column, including comments between them.
///
/// `None` if a line cannot be moved that far.
fn with_dash(layout: &Layout<'_>, to: usize) -> Option<String> {
    let from = dash(layout)?;
    let (head, above) = layout.before.split_at(head_len(layout.before));
    let (below, tail) = layout.after.split_at(loose_len(layout.after));
    let mut text = head.to_owned() + &with_comments(above, from, to);
    for section in &layout.sections {
        text += &with_comments(section.heading, from, to);
        for entry in &section.entries {
            text += entry.gap;
            text += &with_comments(entry.comments, from, to);
            text += &shifted(&entry.body, from, to)?;
        }
    }
    Some(text + &with_comments(below, from, to) + tail)
}

/// Moves all lines except blank ones from one column to another; `None` if one is too far left.
pub(super) fn shifted(text: &str, from: usize, to: usize) -> Option<String> {
    let added = " ".repeat(to.saturating_sub(from));
    let taken = " ".repeat(from.saturating_sub(to));
    let lines = text.split_inclusive('\n').map(|line| {
        if line.trim().is_empty() {
            return Some(line.to_owned());
        }
        Some(format!("{added}{}", line.strip_prefix(&taken)?))
    });
    lines.collect()
}

/// Moves comments, each as far as possible.
fn with_comments(text: &str, from: usize, to: usize) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let far = line.len() - line.trim_start_matches(' ').len();
        let from = from.min(to + far);
        shifted(line, from, to).unwrap_or_else(|| line.to_owned())
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_only_what_can_be_moved() {
        assert_eq!(shifted("- a\n\n  b\n", 0, 2).unwrap(), "  - a\n\n    b\n");
        assert_eq!(shifted("  - a\n\n    b\n", 2, 0).unwrap(), "- a\n\n  b\n");
        assert_eq!(shifted("  - a\n b\n", 2, 0), None);
        assert_eq!(with_comments("  # a\n # b\n", 2, 0), "# a\n# b\n");
        assert_eq!(with_comments("# a\n", 0, 2), "  # a\n");
    }
}
