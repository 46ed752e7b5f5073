//! Shared code of the tests of readers: reading a text, and the result.

use super::{Column, ImportedLink, ImportedRow, LinkOrigin, Options};
use crate::mapping::{BaseUrl, Case};

/// Calls `read` with options for links under `https://short.code/`.
pub(crate) fn with_options<T>(
    columns: &[(Column, String)],
    read: impl FnOnce(&Options<'_>, &mut dyn FnMut(ImportedRow)) -> T,
) -> (Vec<ImportedRow>, T) {
    let from = &BaseUrl::parse("https://short.code/").unwrap();
    let mut rows = Vec::new();
    let read = read(
        &Options {
            from: &[from],
            case: Case::Exact,
            columns,
        },
        &mut |row| rows.push(row),
    );
    (rows, read)
}

/// Returns the rows of a text with links under `https://short.code/`.
pub(crate) fn read_by<T: ?Sized>(
    read: impl FnOnce(&T, LinkOrigin<'_>, &mut dyn FnMut(ImportedRow)),
    text: &T,
) -> Vec<ImportedRow> {
    with_options(&[], |options, take| read(text, options.origin(), take)).0
}

/// Returns the rows of a text with links of a table that ignores case.
pub(crate) fn read_in_any_case<T: ?Sized>(
    read: impl FnOnce(&T, LinkOrigin<'_>, &mut dyn FnMut(ImportedRow)),
    text: &T,
) -> Vec<ImportedRow> {
    let read = |options: &Options<'_>, take: &mut dyn FnMut(ImportedRow)| {
        let case = Case::Fold;
        read(text, Options { case, ..*options }.origin(), take);
    };
    with_options(&[], read).0
}

/// Returns the line, the code, the URL and the title of each link.
pub(crate) fn pairs(rows: &[ImportedRow]) -> Vec<String> {
    let links = rows
        .iter()
        .filter_map(|row| Some((row.line, row.link.as_ref().ok()?)));
    let texts = links.map(|(line, link)| {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let title = link.title.as_ref().map(|title| format!(" {title}"));
        format!(
            "{line} {} {}{}",
            text(&link.code),
            text(&link.url),
            text(&title)
        )
    });
    texts.collect()
}

/// Returns where a link leads besides its URL.
pub(crate) fn below_and_variants(link: &ImportedLink) -> String {
    let below = link.below.iter().map(|it| format!(" below {it}"));
    let variants = link.variants.iter().map(|it| format!(", {it}"));
    below.chain(variants).collect()
}

/// Returns the line of each refused row, and the reason.
pub(crate) fn refused(rows: &[ImportedRow]) -> Vec<String> {
    let refused = rows
        .iter()
        .filter_map(|row| Some((row.line, row.link.as_ref().err()?)));
    refused
        .map(|(line, error)| format!("{line}: {error}"))
        .collect()
}
