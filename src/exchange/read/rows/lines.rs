//! The lines of a file, each with its number; one that is not UTF-8 does not affect the others.

use super::row::{ImportedLink, ImportedRow, RowError};

/// Returns the lines of a file that are not blank, without their line breaks.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Result<&str, RowError>)> {
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
    let texts = lines.map(|(line, number)| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        (number, text(line))
    });
    texts.filter(|(_, text)| !text.as_ref().is_ok_and(|text| text.trim().is_empty()))
}

/// Returns bytes as text.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, RowError> {
    std::str::from_utf8(bytes).map_err(|_| RowError::NotUtf8)
}

/// Passes on a row for each line that has a link or an error.
pub(crate) fn rows<'b>(
    bytes: &'b [u8],
    take: &mut dyn FnMut(ImportedRow),
    mut link: impl FnMut(&'b str) -> Result<Option<ImportedLink>, RowError>,
) {
    for (line, text) in lines(bytes) {
        if let Some(link) = text.and_then(&mut link).transpose() {
            take(ImportedRow { line, link });
        }
    }
}
