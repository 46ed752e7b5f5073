//! Division of a file into batches of whole pieces while it is read, so that each batch can be compiled
//! and dropped before the next.
//!
//! The pieces are those into which the whole file is cut.

use std::ops::Range;

use memchr::memchr;

use super::cut::{Cut, CutList, CutPiece, CutStep, LineScan};
use super::gaps::Gaps;
use super::text;
use crate::mapping::value::PieceId;

/// The minimum length of a batch, in bytes, except for the last one: so many pieces that starting with
/// one costs little.
const MIN: usize = if cfg!(any(test, fuzzing)) {
    600
} else {
    256 << 10
};

/// A file that is divided while it is read.
pub(crate) struct Batches<Read> {
    /// Appends the next bytes of the file, and returns how many; 0 at its end.
    read: Read,
    scan: LineScan,
    part: FilePart,
    /// The bytes from the current batch on; before and after the list, from the current part on.
    buffer: Vec<u8>,
    /// The line in the buffer that is passed next, and where to search for its end.
    line: usize,
    search: usize,
    /// Where the buffer begins in the file.
    start: usize,
    before: Vec<u8>,
    line_after: u32,
    pieces: Vec<BatchPiece>,
    ends_line: bool,
}

/// The part of a file that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FilePart {
    Before,
    List,
    After,
    /// Its list is not in the usual form.
    Declined,
}

/// Some pieces of a list, one after another.
#[derive(Debug)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    pieces: Vec<BatchPiece>,
    /// Where it begins in the file.
    start: usize,
    /// The column of the dashes, from 0.
    pub(crate) indent: usize,
}

#[derive(Debug, Clone, Copy)]
struct BatchPiece {
    /// What it is, if that is known.
    id: Option<PieceId>,
    /// Where it begins in its batch.
    start: usize,
    /// The number of its first line, from 1.
    line: u32,
    /// What is between its entries, and before the entry after it, once it has ended.
    gaps: Option<Gaps>,
}

impl Batch {
    /// Returns its length, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns its pieces, identified, with their texts; `None` for one that is not UTF-8.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (CutPiece, Option<&str>)> {
        let ends = self.pieces.iter().skip(1).map(|next| next.start);
        let ends = ends.chain([self.bytes.len()]);
        self.pieces.iter().zip(ends).map(|(piece, end)| {
            let bytes = &self.bytes[piece.start..end];
            let cut = CutPiece {
                id: piece.id.unwrap_or_else(|| PieceId::of(bytes)),
                start: self.start + piece.start,
                length: bytes.len(),
                line: piece.line,
                gaps: piece.gaps,
            };
            (cut, text::of_part(bytes))
        })
    }
}

impl<Read, E> Batches<Read>
where
    Read: FnMut(&mut Vec<u8>) -> Result<usize, E>,
{
    pub(crate) fn new(read: Read) -> Self {
        Self {
            read,
            scan: LineScan::default(),
            part: FilePart::Before,
            buffer: Vec::new(),
            line: 0,
            search: 0,
            start: 0,
            before: Vec::new(),
            line_after: 0,
            pieces: Vec::new(),
            ends_line: false,
        }
    }

    /// Returns the next batch; `None` once all of the file was read, or it is clear that its list is not
    /// in the usual form.
    pub(crate) fn next(&mut self) -> Result<Option<Batch>, E> {
        loop {
            if let Some(batch) = self.pass_lines() {
                return Ok(Some(batch));
            }
            if self.part == FilePart::Declined {
                return Ok(None);
            }
            let count = (self.read)(&mut self.buffer)?;
            if let (1.., Some(last)) = (count, self.buffer.last()) {
                self.ends_line = *last == b'\n';
            }
            if count == 0 {
                return Ok(self.end());
            }
        }
    }

    /// Returns the cut of the file, given its pieces, once there are no more batches; `None` if its list
    /// is not in the usual form.
    pub(crate) fn finish(self, pieces: Vec<CutPiece>) -> Option<Cut> {
        let indent = self.scan.indent.filter(|_| self.scan.has_entries)?;
        if self.part != FilePart::After {
            return None;
        }
        let size = (self.start + self.buffer.len()) as u64;
        let list = CutList {
            before: text::of(&self.before)?.into(),
            after: text::of_part(&self.buffer).map(Box::from),
            indent,
            line_after: self.line_after,
            pieces,
        };
        let around = [&self.before, &self.buffer].map(|it| PieceId::of(it));
        Some(Cut::new((size, self.ends_line), Some(list), around))
    }

    /// Passes the whole lines in the buffer, up to the end of a batch.
    fn pass_lines(&mut self) -> Option<Batch> {
        while matches!(self.part, FilePart::Before | FilePart::List) {
            let Some(length) = memchr(b'\n', &self.buffer[self.search..]) else {
                self.search = self.buffer.len();
                return None;
            };
            let end = self.search + length;
            let batch = self.pass(end, end + 1);
            if batch.is_some() {
                return batch;
            }
        }
        None
    }

    /// Passes the line that ends at a place in the buffer, before the next one.
    fn pass(&mut self, end: usize, next: usize) -> Option<Batch> {
        let line = self.line;
        let step = self.scan.pass(&self.buffer[line..end]);
        (self.line, self.search) = (next, next);
        match step {
            CutStep::Continue => {}
            CutStep::Begin => {
                self.before = self.split_off(next);
                self.part = FilePart::List;
                self.begin_piece(0, self.scan.number);
            }
            CutStep::Border => {
                let number = self.scan.number - 1;
                self.end_piece();
                if line >= MIN {
                    let batch = self.batch(line);
                    self.begin_piece(0, number);
                    return Some(batch);
                }
                self.begin_piece(line, number);
            }
            CutStep::End => {
                self.end_piece();
                self.part = FilePart::After;
                self.line_after = self.scan.number - 1;
                return Some(self.batch(line));
            }
            CutStep::Decline => self.part = FilePart::Declined,
        }
        None
    }

    /// Ends the file; returns what is left of its list.
    fn end(&mut self) -> Option<Batch> {
        let end = self.buffer.len();
        if matches!(self.part, FilePart::Before | FilePart::List) && self.line < end {
            // A last line without a line break may begin a piece, or be the first after the list.
            let batch = self.pass(end, end);
            if batch.is_some() {
                return batch;
            }
        }
        if self.part != FilePart::List || !self.scan.has_entries {
            return None;
        }
        self.end_piece();
        self.part = FilePart::After;
        self.line_after = self.scan.number;
        Some(self.batch(self.buffer.len()))
    }

    fn begin_piece(&mut self, start: usize, line: u32) {
        self.pieces.push(BatchPiece {
            id: None,
            start,
            line,
            gaps: None,
        });
    }

    fn end_piece(&mut self) {
        let gaps = self.scan.take_gaps();
        if let Some(piece) = self.pieces.last_mut() {
            piece.gaps = gaps;
        }
    }

    /// Takes the batch that ends at a place in the buffer.
    fn batch(&mut self, end: usize) -> Batch {
        let start = self.start;
        Batch {
            bytes: self.split_off(end),
            pieces: std::mem::take(&mut self.pieces),
            start,
            indent: self.scan.indent.unwrap_or(0),
        }
    }

    /// Takes the bytes before a place in the buffer.
    fn split_off(&mut self, at: usize) -> Vec<u8> {
        let mut rest = Vec::with_capacity(self.buffer.capacity());
        rest.extend_from_slice(&self.buffer[at..]);
        self.start += at;
        self.line -= at;
        self.search -= at;
        let mut taken = std::mem::replace(&mut self.buffer, rest);
        taken.truncate(at);
        taken
    }
}

/// A file that was cut before, divided while it is read again.
pub(crate) struct CutBatches<'c, Read> {
    /// Returns some bytes of the file.
    read: Read,
    list: Option<&'c CutList>,
    /// The number of the piece that begins the next batch.
    next: usize,
}

impl<'c, Read, E> CutBatches<'c, Read>
where
    Read: FnMut(Range<usize>) -> Result<Vec<u8>, E>,
{
    pub(crate) fn new(cut: &'c Cut, read: Read) -> Self {
        Self {
            read,
            list: cut.list.as_ref(),
            next: 0,
        }
    }

    /// Returns the next batch; `None` once there are no more.
    pub(crate) fn next(&mut self) -> Result<Option<Batch>, E> {
        let rest = self.list.map_or(&[][..], |list| &list.pieces[self.next..]);
        let Some(first) = rest.first() else {
            return Ok(None);
        };
        let is_enough = |piece: &CutPiece| piece.range().end - first.start >= MIN;
        let count = rest
            .iter()
            .position(is_enough)
            .map_or(rest.len(), |it| it + 1);
        let pieces = &rest[..count];
        self.next += count;
        let pieces_in_batch = pieces.iter().map(|piece| BatchPiece {
            id: Some(piece.id),
            start: piece.start - first.start,
            line: piece.line,
            gaps: piece.gaps,
        });
        let end = pieces.last().map_or(first.start, |last| last.range().end);
        Ok(Some(Batch {
            bytes: (self.read)(first.start..end)?,
            pieces: pieces_in_batch.collect(),
            start: first.start,
            indent: self.list.map_or(0, |list| list.indent),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::super::cut_texts;
    use super::*;

    /// Cuts a text that is read in parts of a length.
    fn cut(text: &[u8], step: usize) -> Option<Cut> {
        let mut chunks = text.chunks(step);
        let read = |buffer: &mut Vec<u8>| {
            let chunk = chunks.next().unwrap_or_default();
            buffer.extend_from_slice(chunk);
            Ok::<_, Infallible>(chunk.len())
        };
        let mut batches = Batches::new(read);
        let mut pieces = Vec::new();
        while let Some(batch) = batches.next().unwrap() {
            for (piece, found) in batch.pieces() {
                let bytes = &text[piece.start..piece.start + piece.length];
                assert_eq!(found, text::of_part(bytes));
                pieces.push(piece);
            }
        }
        batches.finish(pieces)
    }

    fn assert_same(text: &[u8], step: usize) {
        let whole = Cut::of(text);
        assert_eq!(cut(text, step), whole.list.is_some().then_some(whole));
    }

    #[test]
    fn a_file_is_cut_as_a_whole_is() {
        let entries = (0..200).map(|it| format!("- url: https://e.org/{it}\n"));
        let whole = format!(
            "base_url: https://e.org/\nmapping:\n{}",
            entries.collect::<String>()
        );
        cut_texts::each(&whole, assert_same);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_as_a_whole_is(
            lines in prop::collection::vec("( {0,2}- | {0,3}#?|[a-z:-]|mapping:)[a-z: -]{0,4}", 0..200),
            step in 1..50_usize,
        ) {
            assert_same(lines.join("\n").as_bytes(), step);
            assert_same(format!("mapping:\n{}\n", lines.join("\n")).as_bytes(), step);
        }
    }
}
