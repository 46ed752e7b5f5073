//! Characters that look like the ASCII ones of YAML's structure, at the places where YAML needs
//! those: word processors and chat programs put them there.
//!
//! In texts they are ordinary characters. So a line is only searched if a problem was found on it
//! or next to it, and only in its indentation, its dashes and its first key.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

use crate::mapping::value::{Diagnostic, Place, Position, Rule};

/// What YAML needs instead of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needed {
    Space,
    Hyphen,
    Colon,
    Nothing,
}

use Needed::{Colon, Hyphen, Nothing, Space};

/// The characters with their names (Unicode Character Database, `UnicodeData.txt`).
const LOOKALIKES: [(char, Needed, &str); 22] = [
    ('\u{A0}', Space, "a no-break space"),
    ('\u{2003}', Space, "an em space"),
    ('\u{2007}', Space, "a figure space"),
    ('\u{2009}', Space, "a thin space"),
    ('\u{202F}', Space, "a narrow no-break space"),
    ('\u{3000}', Space, "an ideographic space"),
    ('\u{AD}', Hyphen, "a soft hyphen"),
    ('\u{2010}', Hyphen, "a typographic hyphen"),
    ('\u{2011}', Hyphen, "a non-breaking hyphen"),
    ('\u{2012}', Hyphen, "a figure dash"),
    ('\u{2013}', Hyphen, "an en dash"),
    ('\u{2014}', Hyphen, "an em dash"),
    ('\u{2022}', Hyphen, "a bullet"),
    ('\u{2212}', Hyphen, "a minus sign"),
    ('\u{FE63}', Hyphen, "a small hyphen"),
    ('\u{FF0D}', Hyphen, "a full-width hyphen"),
    ('\u{2236}', Colon, "a ratio sign"),
    ('\u{FE55}', Colon, "a small colon"),
    ('\u{FF1A}', Colon, "a full-width colon"),
    ('\u{200B}', Nothing, "a zero-width space"),
    ('\u{2060}', Nothing, "a word joiner"),
    ('\u{FEFF}', Nothing, "a byte order mark"),
];

fn needed(character: char) -> Option<Needed> {
    let known = LOOKALIKES.iter().find(|(it, ..)| *it == character);
    known.map(|&(_, needed, _)| needed)
}

/// Replaces the problems caused by a lookalike with one that names it.
pub(crate) fn name_lookalikes(text: &str, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let suspect: BTreeSet<u32> = found
        .iter()
        .filter(|it| is_of_structure(it.rule))
        .flat_map(|it| {
            let line = it.place.position.line;
            // A plain value goes on until a line that cannot be part of it.
            let before = (it.rule == Rule::YamlInvalid).then(|| line.saturating_sub(1));
            before.into_iter().chain([line])
        })
        .collect();
    if suspect.is_empty() || text.is_ascii() {
        return found;
    }
    let lines = (1..).zip(text.lines());
    let lookalikes: BTreeMap<u32, (u32, char)> = lines
        .filter(|(number, line)| !line.is_ascii() && suspect.contains(number))
        .filter_map(|(number, line)| Some((number, lookalike(line)?)))
        .collect();
    let mut named = BTreeSet::new();
    let mut kept = Vec::new();
    for problem in found {
        match line_of_cause(&problem, &lookalikes) {
            None => kept.push(problem),
            Some(line) => {
                if named.insert(line) {
                    let (column, character) = lookalikes[&line];
                    let position = Position { line, column };
                    kept.push(report(&problem.place.file, position, character));
                }
            }
        }
    }
    kept
}

fn is_of_structure(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::YamlInvalid | Rule::KeyUnknown | Rule::KeyNotAWord | Rule::ValueWrongType
    )
}

/// Returns the line of the lookalike that causes a problem.
fn line_of_cause(problem: &Diagnostic, lookalikes: &BTreeMap<u32, (u32, char)>) -> Option<u32> {
    let line = problem.place.position.line;
    let candidates = match problem.rule {
        Rule::YamlInvalid => [line, line.saturating_sub(1)],
        // A list or a map with an invalid first line seems to be missing.
        Rule::ValueWrongType | Rule::KeyMissing => [line, line.saturating_add(1)],
        rule if is_of_structure(rule) => [line, line],
        _ => return None,
    };
    candidates
        .into_iter()
        .find(|line| lookalikes.contains_key(line))
}

fn report(file: &Arc<str>, position: Position, character: char) -> Diagnostic {
    let known = LOOKALIKES.iter().find(|(it, ..)| *it == character);
    let &(_, needed, name) = known.unwrap_or(&LOOKALIKES[0]);
    let number = u32::from(character);
    let (place, hint) = match needed {
        Space => (
            "where YAML needs a space",
            "type a space with the space bar",
        ),
        Hyphen => (
            "where YAML needs \"-\"",
            "type the hyphen of the keyboard, \"-\"",
        ),
        Colon => ("where YAML needs \":\"", "type \":\" and a space after it"),
        Nothing => ("where YAML needs none", "remove it: it is invisible"),
    };
    let message = format!("{name} (U+{number:04X}) {place}");
    let place = Place::new(file, position);
    Diagnostic::new(Rule::YamlLookalike, place, message).with_hint(hint)
}

/// The characters of a line, and the column of the next one.
struct LineChars<'l> {
    rest: Peekable<Chars<'l>>,
    column: u32,
}

impl LineChars<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    fn advance(&mut self) {
        self.rest.next();
        self.column += 1;
    }

    /// Returns the place of the next character, which is this one.
    fn here(&self, character: char) -> Option<(u32, char)> {
        Some((self.column, character))
    }
}

/// Returns the first character of a line that is a lookalike where YAML needs structure, and its
/// column.
fn lookalike(line: &str) -> Option<(u32, char)> {
    let rest = line.chars().peekable();
    let mut at = LineChars { rest, column: 1 };
    // The indentation, and the dashes of lists.
    loop {
        let next = at.peek()?;
        match needed(next) {
            Some(_) => return at.here(next),
            None if next == ' ' || next == '-' => at.advance(),
            None => break,
        }
    }
    // The key: a hyphen in its name, the colon after it, and the space after that.
    let (mut in_name, mut is_over) = (None, false);
    loop {
        let next = at.peek()?;
        match needed(next) {
            Some(Hyphen) if is_over => return in_name,
            Some(Hyphen) => in_name = in_name.or(at.here(next)),
            Some(_) => return in_name.or(at.here(next)),
            None if next == ':' => break,
            None if next == ' ' => is_over = true,
            None if !is_over && (next.is_ascii_alphanumeric() || "-_".contains(next)) => {}
            None => return None,
        }
        at.advance();
    }
    at.advance();
    let after = at.peek().filter(|next| needed(*next).is_some());
    in_name.or(after.and_then(|next| at.here(next)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_lookalikes_of_structure_and_none_in_texts() {
        for (line, found) in [
            ("\u{a0} url: x", Some((1, '\u{a0}'))),
            ("- \u{2003}url: x", Some((3, '\u{2003}'))),
            ("-\u{a0}url: x", Some((2, '\u{a0}'))),
            ("  – url: x", Some((3, '–'))),
            ("- url： x", Some((6, '：'))),
            ("- url\u{a0}: x", Some((6, '\u{a0}'))),
            ("- url:\u{a0}x", Some((7, '\u{a0}'))),
            ("  short–code: –", Some((8, '–'))),
            ("  short−code：a", Some((8, '−'))),
            ("\u{200b}url: x", Some((1, '\u{200b}'))),
            ("- url: x – y： z\u{a0}", None),
            ("- title: – x", None),
            ("- short – x: y", None),
            ("- é – ü：", None),
            ("- https://e.org/–", None),
            ("", None),
            ("  -", None),
        ] {
            assert_eq!(lookalike(line), found, "{line}");
        }
    }

    #[test]
    fn characters_are_listed_once_and_are_not_ascii() {
        let characters = LOOKALIKES.map(|(character, ..)| character);
        assert_eq!(BTreeSet::from(characters).len(), characters.len());
        assert!(!characters.iter().any(char::is_ascii));
    }
}
