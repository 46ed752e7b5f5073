//! Detection of documents that cannot be split safely.
//!
//! An entry is moved as whole lines, so it must have its own lines, and mean the same wherever
//! they are. How a text after `|` or `>` ends depends on what follows.

use crate::mapping::{
    Diagnostic, EntryOutline, Outline, Place, Position, Rule, ScalarForm, SourceFile,
};

/// A part that cannot be split safely: the rule, its position, the reason, and a hint.
type Unsplittable = (Rule, Position, &'static str, &'static str);

/// Returns the reason why a file with this outline cannot be split safely, if there is one.
pub(super) fn refused(outline: &Outline<'_>, file: &SourceFile) -> Option<Diagnostic> {
    let (rule, position, message, hint) = refusal(outline)?;
    let place = Place::new(&file.path, position);
    Some(Diagnostic::new(rule, place, message).with_hint(hint))
}

/// Returns the first part that cannot be split safely.
fn refusal(outline: &Outline<'_>) -> Option<Unsplittable> {
    if let Some(position) = lone_carriage_return(outline.text) {
        let message = "a carriage return without a line feed cannot be kept in its place";
        let hint = "end every line in the same way";
        return Some((Rule::LayoutCarriageReturn, position, message, hint));
    }
    outline.entries.iter().find_map(|entry| {
        let dash = entry.line_start..entry.line_start + entry.pairs[0].span.start;
        let (rule, message, hint) = if entry.is_flow {
            (
                Rule::LayoutFlowStyle,
                "an entry in brackets or braces cannot be moved",
                "write each key on its own line, the first one after \"- \"",
            )
        } else if outline.text[dash].trim_matches(' ') != "-" {
            (
                Rule::LayoutDashAlone,
                "an entry cannot be moved unless it begins on the line of its dash",
                "write the first key on the line of the dash",
            )
        } else if has_block_text(entry) {
            (
                Rule::LayoutBlockText,
                "an entry with a block scalar (\"|\" or \">\") cannot be moved",
                "write the text on one line, in quotes if need be",
            )
        } else {
            return None;
        };
        Some((rule, entry.position, message, hint))
    })
}

/// Returns whether the lines below an entry may be part of one of its texts.
fn has_block_text(entry: &EntryOutline<'_>) -> bool {
    let mut values = entry.pairs.iter().flat_map(|pair| &pair.values);
    values.any(|value| value.form == ScalarForm::Block)
}

/// Returns the position of the first carriage return that does not end a line.
pub(super) fn lone_carriage_return(text: &str) -> Option<Position> {
    text.split_inclusive('\n')
        .zip(1..)
        .find_map(|(line, number)| {
            let own = line.strip_suffix("\r\n").unwrap_or(line);
            let (before, _) = own.split_once('\r')?;
            Some(Position {
                line: number,
                column: u32::try_from(before.chars().count() + 1).unwrap_or(u32::MAX),
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carriage_return_without_a_line_feed_is_found_also_at_the_end() {
        let at = |text| lone_carriage_return(text).map(|it| (it.line, it.column));
        assert_eq!(at("a\r\nb\r\n"), None);
        assert_eq!(at("a\r\nb"), None);
        assert_eq!(at("a\rb\n"), Some((1, 2)));
        assert_eq!(at("a\r\nb\r"), Some((2, 2)));
        assert_eq!(at("a\r\r\n"), Some((1, 2)));
    }
}
