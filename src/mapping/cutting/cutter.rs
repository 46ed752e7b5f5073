//! Cutting a file while it is read: the text of known pieces is not kept.
//!
//! The result is that of cutting the whole file. A file that cannot be cut is kept as a whole.
//!
//! After a known piece, the one that followed it in the earlier version is expected. If the next bytes
//! are that piece, no border is in it, because there was none; so its lines need not be passed one by
//! one. Whether it ends where it did is decided by the line after it, as always.

use std::sync::Arc;

use memchr::memchr;

use super::cut::{Cut, CutList, CutPiece, CutStep, LineScan};
use super::table_file::{FileText, TableFile};
use super::text;
use crate::mapping::value::{KnownPieces, PieceExtent, PieceId, SourceFile};

/// The amount of new text of a file, in bytes, above which most of the file must be known:
/// otherwise it is read again, as a whole.
pub(crate) const MAX_NEW: usize = 1 << 20;

/// A file that is being read.
#[derive(Debug)]
pub struct Cutter<'k> {
    known: &'k KnownPieces,
    /// The size that the file is expected to have.
    expected: usize,
    scan: LineScan,
    state: CutterState,
    /// The bytes from the current part on: the text before the list, a piece, or the text after it.
    buffer: Vec<u8>,
    /// The line in the buffer that is read next, and where to search for its end.
    line: usize,
    search: usize,
    /// Where the buffer begins in the file.
    start: usize,
    /// The number of the first line of the current piece.
    first_line: u32,
    /// The piece that the current one may be.
    expected_piece: Option<(PieceId, PieceExtent)>,
    /// The beginning of the current piece that was identified: its length, and what piece it is if it
    /// ends there.
    identified: Option<(usize, PieceId)>,
    before: Vec<u8>,
    pieces: Vec<CutPiece>,
    texts: Vec<Option<Box<str>>>,
    new: usize,
    ends_line: bool,
    /// Whether there are no more bytes.
    is_at_end: bool,
    /// Whether the text of new pieces is no longer kept.
    is_given_up: bool,
}

/// The part of a file that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CutterState {
    /// The list, or the text before it.
    Lines,
    /// The text after the list, which begins at this line.
    After(u32),
    /// A file that is not cut.
    Whole,
}

impl<'k> Cutter<'k> {
    /// Begins a file with an expected size in bytes, and with some known pieces.
    pub fn new(expected: u64, known: &'k KnownPieces) -> Self {
        Self {
            known,
            expected: usize::try_from(expected).unwrap_or(0),
            scan: LineScan::default(),
            state: CutterState::Lines,
            buffer: Vec::new(),
            line: 0,
            search: 0,
            start: 0,
            first_line: 1,
            expected_piece: None,
            identified: None,
            before: Vec::new(),
            pieces: Vec::new(),
            texts: Vec::new(),
            new: 0,
            ends_line: false,
            is_at_end: false,
            is_given_up: false,
        }
    }

    /// Keeps no text, except that of a file that is not cut.
    pub fn without_text(self) -> Self {
        Self {
            is_given_up: true,
            ..self
        }
    }

    /// Reads the next bytes of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.ends_line = *last == b'\n';
        }
        self.buffer.extend_from_slice(bytes);
        // Where the current part begins in the buffer.
        let mut part = 0;
        self.pass_lines(&mut part);
        self.drop_before(part);
    }

    /// Moves over the lines that are in the buffer, unless more bytes are needed to decide whether the
    /// current piece is the expected one.
    fn pass_lines(&mut self, part: &mut usize) {
        while self.state == CutterState::Lines {
            if let Some((id, extent)) = self.expected_piece {
                let bytes = self.buffer.get(*part..*part + extent.length);
                if bytes.is_none() && !self.is_at_end {
                    return;
                }
                self.expected_piece = None;
                if bytes.is_some_and(|bytes| PieceId::of(bytes) == id) {
                    self.identified = Some((extent.length, id));
                    let next = self.first_line + extent.lines;
                    self.scan.skip(extent.length, next);
                    self.line = *part + extent.length;
                    self.search = self.line;
                }
            }
            let Some(length) = memchr(b'\n', &self.buffer[self.search..]) else {
                self.search = self.buffer.len();
                return;
            };
            let end = self.search + length;
            self.pass(part, end, end + 1);
        }
    }

    /// Returns the file, with its path, after all of it was read.
    pub fn finish(mut self, path: Arc<str>) -> TableFile {
        self.is_at_end = true;
        self.push(&[]);
        let end = self.buffer.len();
        if self.state == CutterState::Lines && self.line < end {
            let mut part = 0;
            self.pass(&mut part, end, end);
            self.drop_before(part);
        }
        let size = (self.start + self.buffer.len()) as u64;
        let end = (size, self.ends_line);
        let line_after = match self.state {
            CutterState::Lines => {
                let number = self.scan.number;
                if self.scan.has_entries {
                    self.end_piece(0, self.buffer.len());
                    let end = self.buffer.len();
                    self.drop_before(end);
                }
                number
            }
            CutterState::After(line) => line,
            CutterState::Whole => 0,
        };
        let indent = self.scan.indent.filter(|_| self.scan.has_entries);
        let (Some(indent), Some(before)) = (indent, text::of(&self.before)) else {
            // Only the text before a list without entries was dropped.
            let mut bytes = self.before;
            bytes.append(&mut self.buffer);
            let around = [PieceId::of(&bytes), PieceId::of(&[])];
            return TableFile {
                cut: Arc::new(Cut::new(end, None, around)),
                text: FileText::Whole(SourceFile::new(Arc::clone(&path), bytes)),
                path,
            };
        };
        let list = CutList {
            before: before.into(),
            after: text::of_part(&self.buffer).map(Box::from),
            indent,
            line_after,
            pieces: self.pieces,
        };
        let around = [&self.before, &self.buffer].map(|it| PieceId::of(it));
        TableFile {
            path,
            cut: Arc::new(Cut::new(end, Some(list), around)),
            text: match self.is_given_up {
                true => FileText::Nothing,
                false => FileText::Pieces(self.texts),
            },
        }
    }

    /// Moves over the line that ends at a place in the buffer, before the next one; `part` is where the
    /// current part begins.
    fn pass(&mut self, part: &mut usize, end: usize, next: usize) {
        let line = self.line;
        match self.scan.pass(&self.buffer[line..end]) {
            CutStep::Continue => {}
            CutStep::Begin if text::of(&self.buffer[..next]).is_some() => {
                self.before = self.buffer[..next].to_vec();
                *part = next;
                self.first_line = self.scan.number;
            }
            CutStep::Begin | CutStep::Decline => self.state = CutterState::Whole,
            CutStep::Border => {
                self.end_piece(*part, line);
                *part = line;
                self.first_line = self.scan.number - 1;
            }
            CutStep::End => {
                self.end_piece(*part, line);
                *part = line;
                self.state = CutterState::After(self.scan.number - 1);
            }
        }
        (self.line, self.search) = (next, next);
        if self.state == CutterState::Whole {
            self.scan.has_entries = false;
            let rest = self.expected.saturating_sub(self.buffer.len());
            // Only a hint.
            let _ = self.buffer.try_reserve_exact(rest);
        }
    }

    /// Ends the piece between two places in the buffer.
    fn end_piece(&mut self, start: usize, end: usize) {
        let bytes = &self.buffer[start..end];
        let identified = self.identified.take();
        let identified = identified.filter(|(length, _)| *length == bytes.len());
        let id = identified.map_or_else(|| PieceId::of(bytes), |(_, id)| id);
        self.expected_piece = self.known.after(&id);
        let mut kept = None;
        if !self.known.contains(&id) {
            self.new += bytes.len();
            if self.new > MAX_NEW && self.new > self.expected / 2 {
                self.is_given_up = true;
                self.texts.clear();
            }
            kept = text::of_part(bytes).filter(|_| !self.is_given_up);
        }
        self.texts.push(kept.map(Box::from));
        self.pieces.push(CutPiece {
            id,
            start: self.start + start,
            length: bytes.len(),
            line: self.first_line,
            gaps: self.scan.take_gaps(),
        });
    }

    /// Drops the bytes before a place in the buffer.
    fn drop_before(&mut self, at: usize) {
        self.buffer.drain(..at);
        self.start += at;
        self.line = self.line.saturating_sub(at);
        self.search = self.search.saturating_sub(at);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::super::cut_texts;
    use super::*;

    /// Cuts a text that is read in parts of a length.
    fn cut(text: &[u8], known: &KnownPieces, step: usize) -> TableFile {
        let mut cutter = Cutter::new(text.len() as u64, known);
        for bytes in text.chunks(step) {
            cutter.push(bytes);
        }
        cutter.finish("t.yaml".into())
    }

    fn assert_same(text: &[u8], step: usize) {
        let whole = Cut::of(text);
        let file = cut(text, &KnownPieces::default(), step);
        assert_eq!(*file.cut, whole);
        match (&file.text, &whole.list) {
            (FileText::Whole(file), None) => assert_eq!(file.bytes, text),
            (FileText::Pieces(texts), Some(list)) => {
                assert_eq!(texts.len(), list.pieces.len());
                for (found, piece) in texts.iter().zip(&list.pieces) {
                    let expected = text::of_part(&text[piece.start..piece.start + piece.length]);
                    assert_eq!(found.as_deref(), expected);
                }
            }
            other => panic!("{other:?}"),
        }
        if whole.list.is_none() {
            return;
        }
        let file = cut(text, &pieces_of(text), step);
        assert_eq!(file.cut.with_gaps_of(&whole), whole);
        let FileText::Pieces(texts) = file.text else {
            panic!("it is cut")
        };
        assert!(texts.iter().all(Option::is_none));
    }

    #[test]
    fn a_file_is_cut_the_same_way_however_it_is_read() {
        let entries = |count: usize| -> String {
            let entries = (0..count).map(|it| format!("- url: https://e.org/{it}\n"));
            entries.collect()
        };
        let whole = format!("base_url: https://e.org/\nmapping:\n{}", entries(100));
        cut_texts::each(&whole, assert_same);
        for text in [
            format!("\u{feff}mapping:\n{}", entries(20)),
            format!("mapping:\n# c\n\n{}", entries(20)),
        ] {
            for step in [1, 7, 64, 100_000] {
                assert_same(text.as_bytes(), step);
            }
        }
    }

    /// Returns the pieces of a text as a table knows them.
    fn pieces_of(text: &[u8]) -> KnownPieces {
        let list = Cut::of(text).list;
        let pieces = list.map_or(Vec::new(), |list| list.pieces);
        let extent = |number: usize| {
            let (piece, next) = (pieces[number], pieces.get(number + 1)?);
            Some(PieceExtent {
                length: piece.length,
                lines: next.line - piece.line,
            })
        };
        KnownPieces::of((0..pieces.len()).map(|number| (pieces[number].id, extent(number))))
    }

    #[test]
    fn a_file_that_is_mostly_new_is_not_kept() {
        let entries = (0..60_000).map(|it| format!("- url: https://e.org/{it}\n"));
        let text = format!("mapping:\n{}", entries.collect::<String>());
        assert!(text.len() > MAX_NEW);
        let file = cut(text.as_bytes(), &KnownPieces::default(), 4096);
        assert!(matches!(file.text, FileText::Nothing));
        assert_eq!(*file.cut, Cut::of(text.as_bytes()));
    }

    proptest! {
        #[test]
        fn any_text_is_cut_the_same_way_however_it_is_read(
            lines in prop::collection::vec("( {0,2}- | {0,3}#?|[a-z:-]|mapping:)[a-z: -]{0,4}", 0..60),
            step in 1..50_usize,
        ) {
            assert_same(lines.join("\n").as_bytes(), step);
            assert_same(format!("mapping:\n{}\n", lines.join("\n")).as_bytes(), step);
        }

        #[test]
        fn a_changed_file_is_cut_as_if_nothing_were_known(
            lines in prop::collection::vec("( {0,2}- | {0,3}#?|[a-z:-])[a-z: -]{0,4}", 50..200),
            change in prop::collection::vec("( {0,2}- | {0,3}#?|[a-z:-])[a-z: -]{0,4}", 0..4),
            at in any::<Index>(),
            removed in 0..4_usize,
            step in 1..400_usize,
        ) {
            // Indented like the first entry, so that most of them are a list.
            let before = format!("mapping:\n- url: a\n{}\n", lines.join("\n  "));
            let mut lines = lines;
            let at = at.index(lines.len());
            lines.splice(at..(at + removed).min(lines.len()), change);
            let after = format!("mapping:\n- url: a\n{}\n", lines.join("\n  "));
            for (before, after) in [(&before, &after), (&after, &before)] {
                let file = cut(after.as_bytes(), &pieces_of(before.as_bytes()), step);
                let whole = Cut::of(after.as_bytes());
                prop_assert_eq!(file.cut.with_gaps_of(&whole), whole);
            }
        }

        #[test]
        fn changed_entries_are_cut_as_if_nothing_were_known(
            numbers in prop::collection::vec(0..1_000_u32, 50..300),
            change in prop::collection::vec(0..1_000_u32, 0..4),
            at in any::<Index>(),
            removed in 0..4_usize,
            step in 1..2_000_usize,
        ) {
            let text = |numbers: &[u32]| {
                let entries = numbers.iter().map(|it| format!("- url: https://e.org/{it}\n"));
                format!("mapping:\n{}tests: []\n", entries.collect::<String>())
            };
            let before = text(&numbers);
            let mut numbers = numbers;
            let at = at.index(numbers.len());
            numbers.splice(at..(at + removed).min(numbers.len()), change);
            let after = text(&numbers);
            let file = cut(after.as_bytes(), &pieces_of(before.as_bytes()), step);
            let whole = Cut::of(after.as_bytes());
            prop_assert_eq!(file.cut.with_gaps_of(&whole), whole);
        }
    }
}
