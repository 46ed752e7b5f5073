//! Insertion of entries into a document.
//!
//! A new entry goes into the last section, which is the only one unless a comment followed by a
//! blank line heads another. If the entries there are sorted by code, they stay sorted; otherwise
//! the new entry goes to the end. It is written like its neighbour: with the same indentation, and
//! with a blank line if the entries of the section are separated by one.
//!
//! Insertion requires less of a document than a layout does: only the ends of the entries next to a
//! new one must be known.
//!
//! Invariant: of the existing text, only the brackets of an empty list are changed.

use std::ops::Range;

use super::NewEntry;
use super::layout::{indent, line, line_break_at};
use super::list::List;
use super::obstacle::Obstacle;
use super::refusal::lone_carriage_return;
use super::style::{Style, fitted};
use crate::mapping::{Outline, Position, Rule};

/// Returns a document with new entries inserted, given its outline.
///
/// Takes time proportional to the sizes of the document and the entries, of which there may be
/// millions; only sorting them takes slightly more.
///
/// # Errors
///
/// Returns the reason why an entry cannot be inserted safely: a list or a document in flow style, a
/// neighbour whose end is not known, or lone carriage returns.
pub fn insert(outline: &Outline<'_>, entries: &[&NewEntry]) -> Result<String, Obstacle> {
    let change = TextChange::of(outline, entries)?;
    Ok(change.apply(outline.text, outline.has_mark))
}

/// The edits of a text: insertions, in order of their offsets.
#[derive(Default)]
struct TextChange {
    /// The brackets of an empty list.
    removed: Option<Range<usize>>,
    inserted: Vec<(usize, String)>,
}

impl TextChange {
    fn of(outline: &Outline<'_>, entries: &[&NewEntry]) -> Result<Self, Obstacle> {
        if entries.is_empty() {
            return Ok(Self::default());
        }
        let obstacle = |rule, message| Obstacle::new(rule, Position::START, message);
        if let Some(position) = lone_carriage_return(outline.text) {
            let message = "a carriage return without a line feed keeps lines from being inserted";
            return Err(Obstacle::new(Rule::LayoutCarriageReturn, position, message));
        }
        if outline.is_flow {
            return Err(obstacle(
                Rule::LayoutFlowStyle,
                "nothing can be inserted into a document in braces",
            ));
        }
        match (outline.bracket, &outline.entries[..]) {
            (Some(bracket), []) => Self::fill(outline, bracket, entries),
            (Some(bracket), _) => {
                let message = "nothing can be inserted into a list in brackets";
                let position = position(outline.text, bracket);
                Err(Obstacle::new(Rule::LayoutFlowStyle, position, message))
            }
            (None, []) => Err(obstacle(
                Rule::LayoutListApart,
                "the document has no list of entries",
            )),
            (None, _) => Ok(Self {
                removed: None,
                inserted: List::of(outline).insert(entries)?,
            }),
        }
    }

    /// Turns an empty list in brackets into a list in block form.
    fn fill(outline: &Outline<'_>, at: usize, entries: &[&NewEntry]) -> Result<Self, Obstacle> {
        let text = outline.text;
        let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        let key = text[start..at].trim_end_matches(' ');
        let margin = &key[..indent(key)];
        let is_key = ["mapping:", "\"mapping\":", "'mapping':"].contains(&key.trim_start());
        let brackets = &text[at..outline.list_end];
        if !is_key || brackets.contains('\n') {
            let message = "the empty list is not on the line of its key";
            let position = position(text, at);
            return Err(Obstacle::new(Rule::LayoutListApart, position, message));
        }
        let style = Style {
            margin,
            gap: " ",
            is_spaced: false,
        };
        let end = outline.list_end + line(&text[outline.list_end..]).len();
        let mut sorted = entries.to_vec();
        sorted.sort_by_cached_key(|entry| entry.own_code(outline.scheme).into_owned());
        let breaks = line_break_at(text, at);
        let lines: String = sorted
            .iter()
            .map(|entry| style.write(entry, breaks))
            .collect();
        Ok(Self {
            removed: Some(start + key.len()..outline.list_end),
            inserted: vec![(end, fitted(text, end, lines, breaks))],
        })
    }

    fn apply(self, text: &str, has_mark: bool) -> String {
        let more: usize = self.inserted.iter().map(|(_, text)| text.len()).sum();
        let mut result = String::with_capacity(text.len() + more + '\u{feff}'.len_utf8());
        if has_mark {
            result.push('\u{feff}');
        }
        let mut from = 0;
        if let Some(removed) = self.removed {
            result.push_str(&text[..removed.start]);
            from = removed.end;
        }
        for (at, lines) in self.inserted {
            result.push_str(&text[from..at]);
            result.push_str(&lines);
            from = at;
        }
        result.push_str(&text[from..]);
        result
    }
}

/// Returns the position of a byte of a text.
fn position(text: &str, at: usize) -> Position {
    let before = &text[..at];
    let line = before.rsplit('\n').next().unwrap_or_default();
    let count = |number: usize| u32::try_from(number + 1).unwrap_or(u32::MAX);
    Position {
        line: count(before.matches('\n').count()),
        column: count(line.chars().count()),
    }
}
