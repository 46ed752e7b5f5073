//! Rules: the kinds of problems, without places and values, for programs that group problems.
//!
//! A rule's name is the words that all its messages share: `the code "a" is taken by the entry at
//! a.yaml:3:3` breaks `code-is-taken-by-the-entry`. In Waypost's messages, the variable parts are
//! in quotes or brackets, are numbers or places, or follow a colon or comma. So a rule lives as
//! long as its wording; `tests/commands/check.rs` has the list of them.

use std::collections::HashSet;

use crate::mapping::SourceFile;

/// The rules of messages about some files.
pub(super) struct Rules<'f> {
    paths: HashSet<&'f str>,
}

impl<'f> Rules<'f> {
    /// Returns the rules for messages about these files.
    pub(super) fn of(files: &'f [SourceFile]) -> Self {
        Self {
            paths: files.iter().map(|file| &*file.path).collect(),
        }
    }

    /// Returns the name of the rule that a message reports as broken.
    pub(super) fn name(&self, message: &str) -> String {
        let words = constant(self.without_place(message));
        let words = words
            .split_whitespace()
            .filter(|word| word.starts_with(char::is_alphabetic));
        let mut words: Vec<_> = words.map(str::to_lowercase).collect();
        if words.len() > 1 && ["a", "an", "the"].contains(&&*words[0]) {
            words.remove(0);
        }
        words.join("-").replace(['\'', '.'], "")
    }

    /// Returns a message up to its first place.
    fn without_place<'m>(&self, message: &'m str) -> &'m str {
        let names_place = |&at: &usize| {
            let place = &message[at + AT.len()..];
            let mut ends = place.match_indices(':').map(|(end, _)| end);
            ends.any(|end| self.paths.contains(&place[..end]))
        };
        let mut places = message.match_indices(AT).map(|(at, _)| at);
        let end = places.find(names_place);
        &message[..end.unwrap_or(message.len())]
    }
}

/// The separator before a place.
const AT: &str = " at ";

/// Returns a message up to the first colon or comma, without quoted or bracketed parts.
fn constant(message: &str) -> String {
    let mut kept = String::new();
    let mut inside = None;
    let mut characters = message.chars();
    while let Some(character) = characters.next() {
        let opens = kept.is_empty() || kept.ends_with(' ');
        match (inside, character) {
            (Some(_), '\\') => drop(characters.next()),
            (Some(end), _) if character == end => inside = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if opens => inside = Some(character),
            (None, '(') => inside = Some(')'),
            (None, ':' | ',') => break,
            (None, _) => kept.push(character),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_out_what_differs() {
        let file = |path: &str| SourceFile {
            path: path.into(),
            bytes: Vec::new(),
        };
        let files = [file("a.yaml"), file("my links/b, c.yaml")];
        for (message, expected) in [
            ("unknown key \"a \\\"b\\\" c\"", "unknown-key"),
            (
                "the code \"a\" is taken by the entry at a.yaml:3:3",
                "code-is-taken-by-the-entry",
            ),
            (
                "the code \"a\" is taken by the entry at my links/b, c.yaml:3:3",
                "code-is-taken-by-the-entry",
            ),
            (
                "'\"' is not allowed in a short code",
                "is-not-allowed-in-a-short-code",
            ),
            ("the URL's port is not valid", "urls-port-is-not-valid"),
            ("the byte 0xEF is not UTF-8", "byte-is-not-utf-8"),
            (
                "12 further problems in this file",
                "further-problems-in-this-file",
            ),
            (
                "tags (!x y) are not allowed in a table",
                "tags-are-not-allowed-in-a-table",
            ),
        ] {
            assert_eq!(Rules::of(&files).name(message), expected, "{message}");
        }
    }
}
