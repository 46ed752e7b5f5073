//! From bytes to text: checks for contents that YAML parsers cannot read.
//!
//! YAML may be UTF-16, and an unresolved merge may parse as a scalar; both are refused here with a
//! clear message, before the YAML parser can report them as something else. The reader of block
//! form needs no such check: it accepts neither NUL nor conflicts.

use std::sync::Arc;

use crate::mapping::value::{Diagnostic, Place, Position, Rule, SourceFile};

/// The markers at the start of lines in a Git conflict: ours, the common ancestor, theirs, the end.
const MARKERS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// The maximum number of reported conflicts of one file.
const MAX_CONFLICTS: usize = 1000;

/// A byte order mark.
pub(super) const MARK: &[u8] = "\u{feff}".as_bytes();

/// Returns the text of the first bytes of a file, without a byte order mark; `None` if they are not
/// UTF-8.
pub(super) fn of(bytes: &[u8]) -> Option<&str> {
    let text = of_part(bytes).filter(|_| !looks_like_utf16(bytes))?;
    Some(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Returns the text of other bytes of a file; `None` if they are not UTF-8.
pub(crate) fn of_part(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// Returns the text of a file, without a byte order mark.
///
/// # Errors
///
/// Returns the problem with its encoding.
pub(crate) fn decode(file: &SourceFile) -> Result<&str, Diagnostic> {
    let at = |position| Place::new(&file.path, position);
    let bytes = &file.bytes[..];
    if looks_like_utf16(bytes) {
        let message = "the file is UTF-16, and a table must be UTF-8";
        let problem = Diagnostic::new(Rule::FileNotUtf8, at(Position::START), message);
        return Err(problem.with_hint("save it as UTF-8"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        let byte = bytes[error.valid_up_to()];
        Diagnostic::new(
            Rule::FileNotUtf8,
            at(end_of(valid)),
            format!("the byte 0x{byte:02X} is not UTF-8"),
        )
        .with_hint("save the file as UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Checks that a text can be YAML.
///
/// # Errors
///
/// Returns the problems that prevent it from being parsed as YAML.
pub(crate) fn check(path: &Arc<str>, text: &str) -> Result<(), Vec<Diagnostic>> {
    let at = |position| Place::new(path, position);
    if let Some(nul) = text.find('\0') {
        let place = at(end_of(&text[..nul]));
        return Err(vec![
            Diagnostic::new(
                Rule::FileWithNul,
                place,
                "the file contains a NUL character",
            )
            .with_hint("remove it"),
        ]);
    }
    let conflicts: Vec<_> = conflict_lines(text)
        .take(MAX_CONFLICTS)
        .map(|line| {
            Diagnostic::new(
                Rule::ConflictUnresolved,
                at(Position { line, column: 1 }),
                "unresolved merge conflict",
            )
            .with_hint("keep the entries of both sides that are right, and remove the marker lines")
        })
        .collect();
    if conflicts.is_empty() {
        Ok(())
    } else {
        Err(conflicts)
    }
}

fn looks_like_utf16(bytes: &[u8]) -> bool {
    // A byte order mark, or every other byte of the first two characters NUL (Unicode, section 3.10).
    match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => true,
        [a, b, c, d, ..] => matches!(
            [*a != 0, *b != 0, *c != 0, *d != 0],
            [true, false, true, false] | [false, true, false, true]
        ),
        _ => false,
    }
}

/// Returns the position immediately after a text.
fn end_of(text: &str) -> Position {
    let last_line = text.rsplit('\n').next().unwrap_or_default();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Position {
        line: count(text.bytes().filter(|&b| b == b'\n').count() + 1),
        column: count(last_line.trim_start_matches('\u{feff}').chars().count() + 1),
    }
}

/// Returns the line at which each conflict begins, including one that was partly edited away.
fn conflict_lines(text: &str) -> impl Iterator<Item = u32> {
    // Few files contain a marker at all: searching for one first is much faster than reading line
    // by line.
    let lines = MARKERS
        .iter()
        .any(|marker| text.contains(marker))
        .then(|| text.lines());
    let mut is_inside = false;
    lines
        .into_iter()
        .flatten()
        .zip(1..)
        .filter(move |(line, _)| {
            let Some(marker) = conflict_marker(line) else {
                return false;
            };
            let begins = marker == "<<<<<<<" || !is_inside;
            is_inside = marker != ">>>>>>>";
            begins
        })
        .map(|(_, number)| number)
}

fn conflict_marker(line: &str) -> Option<&'static str> {
    let marker = MARKERS
        .into_iter()
        .find(|marker| line.starts_with(marker))?;
    let label = &line[marker.len()..];
    (label.is_empty() || (marker != "=======" && label.starts_with(' '))).then_some(marker)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(bytes: &[u8]) -> String {
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: bytes.to_vec(),
        };
        let problem = match decode(&file) {
            Ok(text) => check(&file.path, text).unwrap_err().swap_remove(0),
            Err(problem) => problem,
        };
        problem.to_string().lines().next().unwrap().to_owned()
    }

    #[test]
    fn reports_encodings_apart() {
        assert_eq!(
            problem(b"\xff\xfeb\0a\0"),
            "t.yaml:1:1: error: the file is UTF-16, and a table must be UTF-8"
        );
        assert_eq!(problem(b"b\0a\0s\0"), problem(b"\0b\0a\0s\0e"));
        assert_eq!(
            problem("a: b\ncé: \u{fffd}".as_bytes().split_last().unwrap().1),
            "t.yaml:2:5: error: the byte 0xEF is not UTF-8"
        );
        assert_eq!(
            problem(b"a: b\n\0"),
            "t.yaml:2:1: error: the file contains a NUL character"
        );
    }

    #[test]
    fn finds_every_conflict_at_its_line() {
        let text = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n<<<<<<<\nd\n>>>>>>>\n\
                    e\n>>>>>>> left over\n=======\n======= text\n<<<<<<<<\n";
        let found = check(&"t.yaml".into(), text).unwrap_err();
        let lines: Vec<_> = found.iter().map(|d| d.place.position.line).collect();
        assert_eq!(lines, [2, 7, 11, 12]);
    }

    #[test]
    fn drops_a_byte_order_mark() {
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: "\u{feff}a: b".into(),
        };
        assert_eq!(decode(&file), Ok("a: b"));
    }
}
