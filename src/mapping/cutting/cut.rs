//! Cutting a file into pieces: runs of whole entries, of some tens of kilobytes each.
//!
//! Borders are chosen by the content of the entries around them, so that a change moves the borders
//! next to it, and no others. This only looks for lines that can begin an entry; `block.rs`
//! decides, piece by piece, whether the text is in block form. If it accepts all pieces of a text,
//! it accepts the whole text, with the same result. `cutter.rs` cuts a file while it is read.

use std::ops::Range;

use memchr::memchr;

use super::gaps::{GapScan, Gaps, indentation};
use super::text;
use crate::mapping::value::{KnownPieces, PieceId};

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

/// A cut file: the identity of its content and, if it has a list of entries in the usual form, the
/// text around the list and the identity of each piece of it.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(Clone))]
pub struct Cut {
    id: PieceId,
    size: u64,
    ends_line: bool,
    pub(crate) list: Option<CutList>,
}

/// The list of entries of a file, in pieces.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(Clone))]
pub(crate) struct CutList {
    /// The text before the list, whole lines without a byte order mark.
    pub(crate) before: Box<str>,
    /// The text after the list; `None` if it is not UTF-8.
    pub(crate) after: Option<Box<str>>,
    /// The column of the dashes, from 0.
    pub(crate) indent: usize,
    /// The number of the line after the list, from 1.
    pub(crate) line_after: u32,
    /// The pieces of the list, in order; at least one.
    pub(crate) pieces: Vec<CutPiece>,
}

/// A piece of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CutPiece {
    pub(crate) id: PieceId,
    /// Where it is in the file, in bytes.
    pub(crate) start: usize,
    pub(crate) length: usize,
    /// The number of its first line, from 1.
    pub(crate) line: u32,
    /// What is between its entries, and before the entry after it; `None` if its lines were not read,
    /// because it is a known piece.
    pub(crate) gaps: Option<Gaps>,
}

impl Cut {
    /// Cuts a file.
    pub fn of(bytes: &[u8]) -> Self {
        let (list, around) = match CutList::of(bytes) {
            Some((list, around)) => (Some(list), around),
            None => (None, [PieceId::of(bytes), PieceId::of(&[])]),
        };
        let end = (bytes.len() as u64, bytes.ends_with(b"\n"));
        Self::new(end, list, around)
    }

    /// Creates the cut of a file from its size and whether it ends in a newline, its list, and the
    /// identities of the text around the list, or of the whole text without a list.
    pub(super) fn new(
        (size, ends_line): (u64, bool),
        list: Option<CutList>,
        [before, after]: [PieceId; 2],
    ) -> Self {
        let pieces = list.iter().flat_map(|list| &list.pieces);
        let all = [before].into_iter().chain(pieces.map(|it| it.id));
        Self {
            id: PieceId::of_all(all.chain([after])),
            size,
            ends_line,
            list,
        }
    }

    /// Returns the SHA-256 of the hashes of the parts of the file: the text before its list of entries,
    /// each piece of the list, and the text after it. The parts depend on nothing but the content, so two
    /// files have the same hash if, and only if, they have the same content.
    pub fn hash(&self) -> &[u8; 32] {
        self.id.hash()
    }

    /// Returns the size of the file, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns whether the file ends in a newline.
    pub fn ends_line(&self) -> bool {
        self.ends_line
    }

    /// Returns the pieces of its list of entries, if it has one in the usual form.
    pub(crate) fn pieces(&self) -> &[CutPiece] {
        self.list.as_ref().map_or(&[], |list| &list.pieces)
    }

    /// Returns the length of a part of the file, in bytes: of the text before its list, and of each piece;
    /// `None` for the text after it, which is all the rest.
    pub(super) fn part_length(&self, number: usize) -> Option<usize> {
        let pieces = self.pieces();
        match number.checked_sub(1) {
            Some(piece) => pieces.get(piece).map(|piece| piece.length),
            None => match pieces.first() {
                Some(first) => Some(first.start),
                None => usize::try_from(self.size).ok(),
            },
        }
    }

    /// Returns whether the file can be compiled without its text, because all its pieces are known.
    pub fn is_known(&self, known: &KnownPieces) -> bool {
        let is_known = |list: &CutList| {
            list.after.is_some() && known.contain(list.pieces.iter().map(|piece| piece.id))
        };
        self.list.as_ref().is_some_and(is_known)
    }

    /// Returns the memory in use, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.list.as_ref().map_or(0, |list| {
            let after = list.after.as_ref().map_or(0, |after| after.len());
            let pieces = list.pieces.capacity() * size_of::<CutPiece>();
            list.before.len() + after + pieces
        })
    }
}

#[cfg(test)]
impl Cut {
    /// Returns the cut with the gaps of another of the same pieces, where its own are not known.
    pub(crate) fn with_gaps_of(&self, other: &Self) -> Self {
        let mut cut = self.clone();
        let pieces = cut.list.iter_mut().flat_map(|list| &mut list.pieces);
        for (piece, other) in pieces.zip(other.pieces()) {
            piece.gaps = piece.gaps.or(other.gaps);
        }
        cut
    }
}

impl CutList {
    /// Returns where the entries in some text of the list begin, in bytes, with the numbers of the lines
    /// before them.
    pub(crate) fn entry_starts(&self, text: &str) -> impl Iterator<Item = (usize, u32)> {
        let (mut next, mut line_number) = (0, 0);
        let lines = text.split_inclusive('\n').map(move |line| {
            let begin = (next, line_number);
            next += line.len();
            line_number += 1;
            (line, begin)
        });
        let entries =
            lines.filter(|(line, _)| kind(line.as_bytes(), self.indent) == LineKind::Entry);
        entries.map(|(_, begin)| begin)
    }

    /// Cuts the list of a file, and returns it with the identities of the text before and after it.
    pub(super) fn of(bytes: &[u8]) -> Option<(Self, [PieceId; 2])> {
        let mut scan = LineScan::default();
        let (mut start, mut at) = (0, 0);
        let mut before = None;
        let mut pieces = Vec::new();
        let mut begin = (0, 0);
        let mut end = None;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
            let next = (at + line.len() + 1).min(bytes.len());
            match scan.pass(line) {
                CutStep::Continue => {}
                CutStep::Begin => {
                    before = Some(text::of(&bytes[..next])?);
                    (start, begin) = (next, (next, scan.number));
                }
                CutStep::Border => {
                    pieces.push(CutPiece::of(bytes, begin, at, scan.take_gaps()));
                    begin = (at, scan.number - 1);
                }
                CutStep::End => {
                    end = Some((at, scan.number - 1));
                    break;
                }
                CutStep::Decline => return None,
            }
            at = next;
        }
        let (end, line_after) = end.unwrap_or((bytes.len(), scan.number));
        let indent = scan.indent.filter(|_| scan.has_entries)?;
        pieces.push(CutPiece::of(bytes, begin, end, scan.take_gaps()));
        let list = Self {
            before: before?.into(),
            after: text::of_part(&bytes[end..]).map(Box::from),
            indent,
            line_after,
            pieces,
        };
        Some((list, [&bytes[..start], &bytes[end..]].map(PieceId::of)))
    }
}

impl CutPiece {
    /// Returns where it is in the file, in bytes.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.start + self.length
    }

    /// Returns whether it has this content.
    pub(crate) fn is(&self, bytes: &[u8]) -> bool {
        self.id == PieceId::of(bytes)
    }

    fn of(bytes: &[u8], (start, line): (usize, u32), end: usize, gaps: Option<Gaps>) -> Self {
        Self {
            id: PieceId::of(&bytes[start..end]),
            start,
            length: end - start,
            line,
            gaps,
        }
    }
}

/// What to do at a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CutStep {
    Continue,
    /// The list begins after this line.
    Begin,
    /// A piece of the list begins with this line.
    Border,
    /// The list has ended before this line.
    End,
    /// There is no list in the usual form.
    Decline,
}

/// The lines of a file, up to the one after its list.
#[derive(Debug)]
pub(super) struct LineScan {
    is_in_list: bool,
    /// The column of the dashes, from 0, from the first line on that is more than a comment.
    pub(super) indent: Option<usize>,
    pub(super) has_entries: bool,
    /// The length of the current piece, in bytes.
    length: usize,
    /// The number of the next line, from 1.
    pub(super) number: u32,
    gaps: GapScan,
}

impl Default for LineScan {
    fn default() -> Self {
        Self {
            is_in_list: false,
            indent: None,
            has_entries: false,
            length: 0,
            number: 1,
            gaps: GapScan::default(),
        }
    }
}

impl LineScan {
    /// Moves over the rest of a piece of which the first line was passed, given its length, as a line
    /// of an entry; `next` is the number of the line after it.
    pub(super) fn skip(&mut self, length: usize, next: u32) {
        self.length = length;
        self.number = next;
        self.gaps.skip();
    }

    /// Returns a scan of the lines from a piece of a list on, given the column of the dashes and the
    /// number of the first line.
    pub(super) fn of_list(indent: usize, number: u32, is_first: bool) -> Self {
        Self {
            is_in_list: true,
            indent: (!is_first).then_some(indent),
            has_entries: !is_first,
            number,
            ..Self::default()
        }
    }

    /// Returns the gaps of the piece that has just ended, if all its lines were passed.
    pub(super) fn take_gaps(&mut self) -> Option<Gaps> {
        self.gaps.take()
    }

    /// Moves over a line, given without its end.
    pub(super) fn pass(&mut self, line: &[u8]) -> CutStep {
        let is_first = self.number == 1;
        self.number += 1;
        if !self.is_in_list {
            let line = match is_first {
                true => line.strip_prefix(text::MARK).unwrap_or(line),
                false => line,
            };
            let Some(value) = line.strip_prefix(b"mapping:") else {
                return CutStep::Continue;
            };
            if !is_blank(value) {
                return CutStep::Decline;
            }
            self.is_in_list = true;
            return CutStep::Begin;
        }
        let indent = match self.indent {
            Some(indent) => indent,
            None if is_blank(line) => {
                self.length += line.len() + 1;
                return CutStep::Continue;
            }
            None => *self.indent.insert(indentation(line)),
        };
        let mut step = CutStep::Continue;
        match kind(line, indent) {
            LineKind::Entry => {
                let length = self.length;
                if self.has_entries && length >= MIN && (length >= MAX || hash(line) & MASK == 0) {
                    self.length = 0;
                    step = CutStep::Border;
                }
                if self.has_entries && length > 0 {
                    self.gaps.end_gap();
                }
                self.has_entries = true;
            }
            LineKind::Inner => self.gaps.pass(line, indent),
            LineKind::After if self.has_entries => return CutStep::End,
            LineKind::After => return CutStep::Decline,
        }
        self.length += line.len() + 1;
        step
    }
}

/// The role of a line in a list of entries.
#[derive(PartialEq, Eq)]
pub(super) enum LineKind {
    /// The first line of an entry.
    Entry,
    /// A part of an entry, a comment or a blank line.
    Inner,
    /// The first line after the list.
    After,
}

/// Returns the role of a line in a list, given without its end.
pub(super) fn kind(line: &[u8], indent: usize) -> LineKind {
    let own = indentation(line);
    match (own.cmp(&indent), &line[own..]) {
        (_, []) | (_, [b'#', ..]) => LineKind::Inner,
        (std::cmp::Ordering::Greater, _) => LineKind::Inner,
        (std::cmp::Ordering::Equal, [b'-', b' ', ..]) => LineKind::Entry,
        _ => LineKind::After,
    }
}

/// Returns whether there is nothing but a comment.
fn is_blank(text: &[u8]) -> bool {
    matches!(&text[indentation(text)..], [] | [b'#', ..])
}

/// Returns a hash whose first bits are evenly distributed over realistic lines. Crafted lines can
/// only make all pieces as long, or as short, as possible.
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

    /// Returns the texts of the pieces, after checking that they form the whole list.
    fn pieces(text: &str) -> Vec<&str> {
        let list = Cut::of(text.as_bytes()).list.unwrap();
        let mut at = list.before.len();
        assert_eq!(*list.before, text[..at]);
        for piece in &list.pieces {
            assert_eq!(piece.start, at);
            let before = text[..at].bytes().filter(|it| *it == b'\n').count();
            assert_eq!(piece.line as usize, before + 1);
            at += piece.length;
        }
        assert_eq!(list.after.as_deref(), Some(&text[at..]));
        let lines = text[..at].lines().count();
        assert_eq!(list.line_after as usize, lines + 1);
        let texts = list
            .pieces
            .iter()
            .map(|it| &text[it.start..it.start + it.length]);
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
            assert_eq!(Cut::of(text.as_bytes()).list, None, "{text}");
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
            if Cut::of(text.as_bytes()).list.is_some() {
                prop_assert!(text[9..].starts_with(&pieces(&text).concat()));
            }
        }
    }
}
