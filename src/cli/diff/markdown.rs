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

/// Writes the changes of sites and those that break a link, then all others, within the size limit.
pub(super) fn write(out: &mut impl Write, comparison: &Comparison<'_>) -> io::Result<()> {
    writeln!(out, "{MARK}\n### Short links: {}", comparison.summary())?;
    let mut room = MAX_BYTES;
    let of_sites = comparison.sites.iter().map(|change| {
        let cells = [
            Some(change.site.base_url().as_str().to_owned()),
            change.before().map(str::to_owned),
            change.after().map(str::to_owned),
            Some(comparison.site_place(change)),
        ];
        row(change.kind.name(), cells)
    });
    let title = "⚠️ <b>Requests of a site lead elsewhere</b>";
    let mut left_out = section(out, of_sites, title, "site", &mut room)?;
    let breaking = (comparison.changes).partition_point(|change| change.kind.breaks_a_link());
    let (breaking, others) = comparison.changes.split_at(breaking);
    let title = match breaking {
        [_] => "⚠️ <b>1 published link breaks or leads elsewhere</b>".to_owned(),
        all => format!(
            "⚠️ <b>{} published links break or lead elsewhere</b>",
            all.len()
        ),
    };
    let row_of = |change: &Change<'_>| {
        let cells = [
            Some(comparison.link(change)),
            change.before(),
            change.after(),
            Some(comparison.place(change)),
        ];
        row(change.kind.name(), cells)
    };
    let rows = breaking.iter().map(row_of);
    left_out += section(out, rows, &title, "code", &mut room)?;
    let rows = others.iter().map(row_of);
    left_out += section(out, rows, "Other changes", "code", &mut room)?;
    match left_out {
        0 => Ok(()),
        1 => writeln!(out, "\n1 more change is not shown here."),
        _ => writeln!(out, "\n{left_out} more changes are not shown here."),
    }
}

/// Writes a table of changes, each a row; returns the number of changes that did not fit.
fn section(
    out: &mut impl Write,
    mut changes: impl ExactSizeIterator<Item = String>,
    title: &str,
    subject: &str,
    room: &mut usize,
) -> io::Result<usize> {
    let mut rows = String::new();
    let (mut shown, count) = (0, changes.len());
    for row in changes.by_ref() {
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
        let head = format!(
            "| change | {subject} | before | after | place |\n| --- | --- | --- | --- | --- |"
        );
        write!(out, "\n{start}\n\n{head}\n{rows}{end}")?;
    }
    Ok(count - shown)
}

fn row(kind: &str, cells: [Option<String>; 4]) -> String {
    let mut row = format!("| {kind} |");
    for cell in cells {
        row += " ";
        row += &cell.as_deref().map(code).unwrap_or_default();
        row += " |";
    }
    row + "\n"
}
