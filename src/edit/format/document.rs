//! Formatting of a document as a whole, in whatever form it is written.

use std::convert::Infallible;

use super::entry_lines::EntryLines;
use crate::edit::layout::line_break;
use crate::edit::refusal::refused;
use crate::mapping::{Diagnostic, Outline, SourceFile};

/// Returns a document in canonical form.
///
/// # Errors
///
/// Returns the errors of the document, or the reason why it cannot be split safely, as
/// [`Layout::read`](crate::edit::Layout::read).
pub fn format(file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
    let outline = Outline::of(file)?;
    if let Some(problem) = refused(&outline, file) {
        return Err(vec![problem]);
    }
    let text = outline.text;
    let mut lines = EntryLines::default();
    lines.add(text, 0, outline.entries);
    let mut formatted = String::with_capacity(file.bytes.len());
    if outline.has_mark {
        formatted.push('\u{feff}');
    }
    let put = |part: &str| {
        formatted.push_str(part);
        Ok::<_, Infallible>(())
    };
    let Ok(()) = lines.write(text, line_break(text), put);
    formatted.push_str(&text[lines.end()..]);
    Ok(formatted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_leaves_gaps_and_the_open_end_in_place() {
        let text =
            "mapping:\r\n- number: 12\r\n  retired: true\r\n\r\n- number: 11\r\n  retired: true";
        let file = SourceFile::new("t.yaml".into(), text.into());
        assert_eq!(
            format(&file).unwrap(),
            "mapping:\r\n- number: 11\r\n  retired: true\r\n\r\n- number: 12\r\n  retired: true"
        );
    }
}
