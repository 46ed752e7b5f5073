//! Changes as a comment that a bot can post below a pull request.
//!
//! Codes, targets, titles and file names are chosen by the author of the request. So each is in a
//! `<code>` element, where Git hosts make neither mentions nor links, and every character with a
//! meaning in Markdown or HTML is written as a character reference.

use std::io::{self, Write};

use super::comparison::Comparison;
use crate::cli::report::code;
use crate::mapping::Change;

/// The line by which a bot finds its previous comment.
const MARK: &str = "<!-- waypost diff -->";

/// The maximum size of the rows in bytes: a comment on GitHub holds 65,536 characters.
const MAX_BYTES: usize = 60_000;

/// How many rows of a table are shown before it is folded.
const UNFOLDED: usize = 20;

/// Writes the changes that break a link, then all others, within the size limit.
pub(super) fn write(out: &mut impl Write, comparison: &Comparison<'_>) -> io::Result<()> {
    writeln!(out, "{MARK}\n### Short links: {}", comparison.summary())?;
    let breaking = (comparison.changes).partition_point(|change| change.kind.breaks_a_link());
    let (breaking, others) = comparison.changes.split_at(breaking);
    let mut room = MAX_BYTES;
    let title = match breaking {
        [_] => "⚠️ <b>1 published link breaks or leads elsewhere</b>".to_owned(),
        all => format!(
            "⚠️ <b>{} published links break or lead elsewhere</b>",
            all.len()
        ),
    };
    let mut left_out = section(out, comparison, breaking, &title, &mut room)?;
    left_out += section(out, comparison, others, "Other changes", &mut room)?;
    match left_out {
        0 => Ok(()),
        1 => writeln!(out, "\n1 more change is not shown here."),
        _ => writeln!(out, "\n{left_out} more changes are not shown here."),
    }
}

/// Writes a table of changes; returns the number of changes that did not fit.
fn section(
    out: &mut impl Write,
    comparison: &Comparison<'_>,
    changes: &[Change<'_>],
    title: &str,
    room: &mut usize,
) -> io::Result<usize> {
    let mut rows = String::new();
    let mut shown = 0;
    for change in changes {
        let row = row(comparison, change);
        if row.len() > *room {
            break;
        }
        *room -= row.len();
        rows += &row;
        shown += 1;
    }
    if shown > 0 {
        let (start, end) = match shown > UNFOLDED {
            true => (
                format!("<details><summary>{title}</summary>"),
                "\n</details>\n",
            ),
            false => (title.to_owned(), ""),
        };
        let head = "| change | code | before | after | place |\n| --- | --- | --- | --- | --- |";
        write!(out, "\n{start}\n\n{head}\n{rows}{end}")?;
    }
    Ok(changes.len() - shown)
}

fn row(comparison: &Comparison<'_>, change: &Change<'_>) -> String {
    let cells = [
        Some(comparison.link(change)),
        change.before(),
        change.after(),
        Some(comparison.place(change)),
    ];
    let mut row = format!("| {} |", change.kind);
    for cell in cells {
        row += " ";
        row += &cell.as_deref().map(code).unwrap_or_default();
        row += " |";
    }
    row + "\n"
}
