//! Prepares a source line for display under a message, and locates a column in it.
//!
//! Every character takes its terminal width. Invisible characters (controls, marks that change the
//! direction of writing, invisible characters) are shown as one replacement character each, so that
//! a table cannot deceive its readers.

use std::iter::{RepeatN, repeat_n};

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_width::UnicodeWidthChar;

use super::lines::Line;

/// How many terminal columns of a line are shown, and how many of them at most before the place.
const WIDTH: usize = 100;
const BEFORE: usize = 60;

/// How many spaces a tab is shown as, at any position.
const TAB: usize = 4;

/// The maximum average number of characters per column: combining characters take no room, and a
/// line may consist of them.
const MARKS: usize = 4;

/// The mark of a truncated line.
const CUT: char = '…';

/// A part of a line, and the number of terminal columns before the place in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    pub(crate) indent: usize,
}

impl Excerpt {
    /// Cuts an excerpt around a column, which counts characters from 1.
    ///
    /// Returns nothing if the line has no visible characters.
    pub(crate) fn around(line: &Line<'_>, column: u32) -> Option<Self> {
        if line.text().is_empty() {
            return None;
        }
        let (head, tail) = line.split_at(column);
        let (length, taken) = fitting(head.chars().rev(), BEFORE);
        let kept = &head[head.len() - length..];
        let (length, _) = fitting(tail.chars(), WIDTH - taken);

        let mut text = String::new();
        if kept.len() < head.len() {
            text.push(CUT);
        }
        text.extend(kept.chars().flat_map(shown));
        let indent = text.chars().map(width).sum();
        text.extend(tail[..length].chars().flat_map(shown));
        if length < tail.len() {
            text.push(CUT);
        }
        Some(Self { text, indent })
    }
}

/// Returns how many bytes of a text fit into `room`, and their width.
fn fitting(text: impl Iterator<Item = char>, room: usize) -> (usize, usize) {
    let (mut length, mut taken) = (0, 0);
    for character in text.take(room * MARKS) {
        let more = taken + shown(character).map(width).sum::<usize>();
        if more > room {
            break;
        }
        (length, taken) = (length + character.len_utf8(), more);
    }
    (length, taken)
}

/// Returns the displayed form of a character: usually itself.
fn shown(character: char) -> RepeatN<char> {
    match character {
        '\t' => repeat_n(' ', TAB),
        _ if character.general_category_group() == GeneralCategoryGroup::Other => {
            repeat_n(char::REPLACEMENT_CHARACTER, 1)
        }
        _ => repeat_n(character, 1),
    }
}

fn width(character: char) -> usize {
    character.width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an excerpt with a caret below it.
    fn around(line: &str, column: u32) -> String {
        let Excerpt { text, indent } = Excerpt::around(&Line::new(line), column).unwrap();
        format!("{text}\n{}^", " ".repeat(indent))
    }

    #[test]
    fn marks_the_column() {
        assert_eq!(around("- url: x\r", 3), "- url: x\n  ^");
        assert_eq!(around("  \"é\": x", 6), "  \"é\": x\n     ^");
        // After the end, as for something that is missing there.
        assert_eq!(around("a: [", 5), "a: [\n    ^");
        assert_eq!(around("a: [", u32::MAX), "a: [\n    ^");
        assert_eq!(Excerpt::around(&Line::new("  \t "), 1), None);
    }

    #[test]
    fn gives_characters_their_room() {
        assert_eq!(around("\ta", 2), "    a\n    ^");
        assert_eq!(around("漢字: x", 4), "漢字: x\n     ^");
        // A combining acute accent is above the letter before it.
        assert_eq!(around("e\u{301}: x", 5), "e\u{301}: x\n   ^");
    }

    #[test]
    fn shows_controls_harmlessly() {
        assert_eq!(around("a\u{1b}[31m", 3), "a\u{fffd}[31m\n  ^");
        assert_eq!(around("\u{202e}gro.a", 2), "\u{fffd}gro.a\n ^");
        assert_eq!(around("a\u{200b}b\0", 3), "a\u{fffd}b\u{fffd}\n  ^");
    }

    #[test]
    fn cuts_long_lines_around_the_column() {
        let line = format!("{}X{}", "a".repeat(500), "b".repeat(500));
        let shown = format!("…{}X{}…", "a".repeat(60), "b".repeat(39));
        assert_eq!(around(&line, 501), format!("{shown}\n{}^", " ".repeat(61)));
        let shown = format!("{}…", "a".repeat(100));
        assert_eq!(around(&line, 1), format!("{shown}\n^"));
        // A wide character that fits only half is omitted.
        let wide = format!("a{}X", "漢".repeat(60));
        let shown = format!("…{}X", "漢".repeat(30));
        assert_eq!(around(&wide, 62), format!("{shown}\n{}^", " ".repeat(61)));
    }

    #[test]
    fn cuts_what_takes_no_room() {
        let line = format!("a{}X{}", "\u{301}".repeat(9999), "\u{301}".repeat(9999));
        let shown = around(&line, 10_001);
        assert!(shown.contains('X'));
        assert!(shown.chars().count() < 1000, "{}", shown.chars().count());
    }
}
