//! Cutting a document into pieces: runs of whole entries, of some tens of kilobytes each.
//!
//! Borders are chosen by the content of the entries around them, so that a change moves the borders
//! next to it, and no others. This only looks for lines that can begin an entry; whether the text is
//! in block form is for `block.rs` to decide, piece by piece. A text that it accepts in pieces, it
//! accepts as a whole, and reads the same.

use std::ops::Range;

use memchr::memchr;

/// Whether pieces are small, so that small tables have many of them.
const IS_TESTED: bool = cfg!(any(test, fuzzing));

/// The minimum length of a piece, in bytes, except for the last one of a list.
const MIN: usize = if IS_TESTED { 64 } else { 16 << 10 };

/// The length from which a piece ends before the next entry, whatever that is.
const MAX: usize = if IS_TESTED { 512 } else { 64 << 10 };

/// Selects one entry in 256 to begin a piece, by the hash of its first line.
const MASK: u64 = if IS_TESTED { 0b11 << 62 } else { 0xff << 56 };

/// An odd number with evenly distributed bits (Knuth: "The Art of Computer Programming", volume 3,
/// section 6.4: the golden ratio).
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The list of entries of a document, in pieces.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The bytes of the list: whole lines.
    pub(super) list: Range<usize>,
    /// The column of the dashes, from 0.
    pub(super) indent: usize,
    /// The number of the line after the list, from 1.
    pub(super) line_after: u32,
    /// The pieces of the list, in order; at least one.
    pub(crate) pieces: Vec<CutPiece>,
}

/// A piece of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CutPiece {
    pub(crate) bytes: Range<usize>,
    /// The number of its first line, from 1.
    pub(crate) line: u32,
}

/// What a line may be in a list of entries.
enum LineKind {
    /// The first line of an entry.
    Entry,
    /// A part of an entry, a comment or a blank line.
    Inner,
    /// The first line after the list.
    After,
}

/// The lines of a text from an offset on.
struct Lines<'t> {
    text: &'t [u8],
    /// The start of the next line.
    at: usize,
    /// The number of the next line, from 1.
    number: u32,
}

impl<'t> Lines<'t> {
    /// Returns the next line without moving to it.
    fn peek(&self) -> Option<&'t [u8]> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        Some(&rest[..memchr(b'\n', rest).unwrap_or(rest.len())])
    }

    /// Moves over a line.
    fn pass(&mut self, line: &[u8]) {
        self.at = (self.at + line.len() + 1).min(self.text.len());
        self.number += 1;
    }
}

/// Cuts the list of entries of a document; `None` if it has none in the usual form.
pub(crate) fn cut(text: &str) -> Option<Cut> {
    let mut lines = Lines {
        text: text.as_bytes(),
        at: 0,
        number: 1,
    };
    loop {
        let line = lines.peek()?;
        lines.pass(line);
        if let Some(value) = line.strip_prefix(b"mapping:") {
            if !is_blank(value) {
                return None;
            }
            break;
        }
    }
    let (start, first_line) = (lines.at, lines.number);
    while is_blank(lines.peek()?) {
        lines.pass(lines.peek()?);
    }
    let indent = indentation(lines.peek()?);
    let mut pieces = vec![CutPiece {
        bytes: start..start,
        line: first_line,
    }];
    let mut piece_start = start;
    let mut has_entries = false;
    while let Some(line) = lines.peek() {
        match kind(line, indent) {
            LineKind::Entry => {
                let length = lines.at - piece_start;
                if has_entries && length >= MIN && (length >= MAX || hash(line) & MASK == 0) {
                    end_piece(&mut pieces, lines.at);
                    piece_start = lines.at;
                    pieces.push(CutPiece {
                        bytes: piece_start..piece_start,
                        line: lines.number,
                    });
                }
                has_entries = true;
            }
            LineKind::Inner => {}
            LineKind::After => break,
        }
        lines.pass(line);
    }
    end_piece(&mut pieces, lines.at);
    has_entries.then_some(Cut {
        list: start..lines.at,
        indent,
        line_after: lines.number,
        pieces,
    })
}

fn end_piece(pieces: &mut [CutPiece], end: usize) {
    if let Some(last) = pieces.last_mut() {
        last.bytes.end = end;
    }
}

fn kind(line: &[u8], indent: usize) -> LineKind {
    let own = indentation(line);
    match (own.cmp(&indent), &line[own..]) {
        (_, []) | (_, [b'#', ..]) => LineKind::Inner,
        (std::cmp::Ordering::Greater, _) => LineKind::Inner,
        (std::cmp::Ordering::Equal, [b'-', b' ', ..]) => LineKind::Entry,
        _ => LineKind::After,
    }
}

fn indentation(line: &[u8]) -> usize {
    line.iter().take_while(|byte| **byte == b' ').count()
}

/// Returns whether there is nothing but a comment.
fn is_blank(text: &[u8]) -> bool {
    matches!(&text[indentation(text)..], [] | [b'#', ..])
}

/// Returns a hash whose first bits are evenly distributed over lines that people write. Crafted lines
/// can make all pieces as long, or as short, as possible: nothing worse.
fn hash(line: &[u8]) -> u64 {
    let (words, rest) = line.as_chunks::<8>();
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(MULTIPLIER);
    let hash = (words.iter()).fold(0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    // Once more, so that the last bytes reach the first bits.
    mix(mix(hash, u64::from_le_bytes(last)), 0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    /// Returns the texts of the pieces, after checking that they are the whole list.
    fn pieces(text: &str) -> Vec<&str> {
        let cut = cut(text).unwrap();
        let mut at = cut.list.start;
        for piece in &cut.pieces {
            assert_eq!(piece.bytes.start, at);
            let before = text[..at].bytes().filter(|it| *it == b'\n').count();
            assert_eq!(piece.line as usize, before + 1);
            at = piece.bytes.end;
        }
        assert_eq!(at, cut.list.end);
        let lines = text[..at].lines().count();
        assert_eq!(cut.line_after as usize, lines + 1);
        let texts = cut.pieces.iter().map(|it| &text[it.bytes.clone()]);
        texts.collect()
    }

    fn entry(number: usize, indent: &str) -> String {
        let path = "x".repeat(number % 70);
        match number % 5 {
            0 => format!(
                "{indent}- url: https://e.org/{number}/{path}\n{indent}  short-code: a{number}\n"
            ),
            1 => format!(
                "{indent}- url: https://e.org/{number}/{path}\n{indent}  aliases:\n{indent}  - a\n"
            ),
            2 => {
                format!("# - url: https://e.org/\n{indent}- url: https://e.org/{number}/{path}\n\n")
            }
            _ => format!("{indent}- url: https://e.org/{number}/{path}\n"),
        }
    }

    fn table(numbers: impl Iterator<Item = usize>, indent: &str) -> String {
        let mut text = "base_url: https://e.org/\n# mapping:\nmapping: # here\n".to_owned();
        for number in numbers {
            text += &entry(number, indent);
        }
        text + "tests:\n- from: /a\n  to: gone\n"
    }

    #[test]
    fn only_entries_begin_pieces() {
        for indent in ["", "  "] {
            let text = table(0..2_000, indent);
            let pieces = pieces(&text);
            assert!(pieces.len() > 20, "{}", pieces.len());
            for piece in &pieces[1..] {
                assert!(piece.starts_with(&format!("{indent}- url: ")), "{piece}");
                assert!(piece.len() < MAX + 1000);
            }
            assert!(pieces[..pieces.len() - 1].iter().all(|it| it.len() >= MIN));
            assert!(pieces[0].starts_with(&format!("{indent}- url: https://e.org/0/")));
            assert!(!pieces.concat().contains("tests"));
        }
    }

    #[test]
    fn a_change_moves_the_borders_next_to_it() {
        let text = table(0..2_000, "");
        let before: HashSet<_> = pieces(&text).into_iter().collect();
        for at in [0, 1, 777, 1_000, 1_999] {
            let inserted = table((0..at).chain([2_000]).chain(at..2_000), "");
            let new = pieces(&inserted)
                .into_iter()
                .filter(|it| !before.contains(it));
            assert!(new.count() <= 3, "{at}");
        }
    }

    #[test]
    fn a_list_in_another_form_is_not_cut() {
        for text in [
            "",
            "mapping:",
            "mapping:\n",
            "mapping: []\n",
            "mapping: [{url: https://e.org/}]\n",
            "mapping: &a\n- url: https://e.org/\n",
            "mapping:\nbase_url: https://e.org/\n",
            "mapping:\n  url: https://e.org/\n",
            "mapping:\n-\n  url: https://e.org/\n",
            "mapping:\r\n- url: https://e.org/\r\n",
            "  mapping:\n  - url: https://e.org/\n",
            "{mapping:\n- url: https://e.org/\n}\n",
        ] {
            assert_eq!(cut(text), None, "{text}");
        }
    }

    #[test]
    fn a_list_ends_before_the_first_other_line() {
        for (list, after) in [
            ("- url: a\n# c\n\n", "tests: []\n"),
            ("- url: a\n", "---\n"),
            ("- url: a\n", "-\n"),
            ("  - url: a\n    b: c\n # d\n", " e: f\n"),
            ("  - url: a\n", "  b: c\n"),
            ("- url: a", ""),
        ] {
            let text = format!("mapping:\n{list}{after}");
            assert_eq!(pieces(&text), [list]);
        }
    }

    proptest! {
        #[test]
        fn pieces_are_the_whole_list(
            lines in prop::collection::vec("( {0,2}- | {0,3}#?|[a-z:-])[a-z: -]{0,4}", 0..40),
        ) {
            let mut text = String::new();
            for line in lines {
                writeln!(text, "{line}").unwrap();
            }
            let text = format!("mapping:\n{text}");
            if cut(&text).is_some() {
                prop_assert!(text[9..].starts_with(&pieces(&text).concat()));
            }
        }
    }
}
