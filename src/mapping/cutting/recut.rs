//! Cutting the next version of a file: only the pieces around what was replaced are cut again.

use std::ops::Range;

use super::cut::{Cut, CutList, CutPiece, CutStep, LineScan};
use super::text;
use crate::mapping::value::PieceId;

/// Returns the text of some bytes of a file, if it is there.
type ReadText<'r> = &'r dyn Fn(Range<usize>) -> Option<String>;

/// Parts of a file, and what replaces them.
type Replaced<'p, S> = &'p [(Range<usize>, S)];

impl Cut {
    /// Returns how a file is cut after parts of its list were replaced by others. The parts are in order
    /// and do not overlap; `read` returns the text of some bytes of the file before.
    ///
    /// `None` if a text is not there, or the new file may not have a list in the usual form: then it must
    /// be cut as a whole.
    pub fn replaced<S: AsRef<str>>(
        &self,
        parts: &[(Range<usize>, S)],
        read: ReadText<'_>,
    ) -> Option<Self> {
        let list = self.list.as_ref()?;
        let after = list.after.as_deref()?;
        let (first, last) = (list.pieces.first()?, list.pieces.last()?);
        let end = last.start + last.length;
        let is_inside =
            |(part, _): &(Range<usize>, S)| first.start <= part.start && part.end <= end;
        if !parts.iter().all(is_inside) {
            return None;
        }
        let mut new = NewPieces {
            list,
            pieces: Vec::with_capacity(list.pieces.len() + 1),
            start: first.start,
            line: first.line,
            ends_line: self.ends_line(),
        };
        let (mut next, mut rest) = (0, parts);
        while let Some((part, _)) = rest.first() {
            let touched = list.pieces.partition_point(|it| it.start < part.start);
            // Where the piece before it ends depends on its first line, too.
            let from = touched.saturating_sub(2).max(next);
            new.keep(next..from);
            (next, rest) = new.cut_again(from, rest, read)?;
        }
        new.keep(next..list.pieces.len());
        let has_mark = first.start > list.before.len();
        let before = [
            if has_mark { text::MARK } else { b"" },
            list.before.as_bytes(),
        ]
        .concat();
        let around = [&before[..], after.as_bytes()].map(PieceId::of);
        let size = (new.start + after.len()) as u64;
        let list = CutList {
            before: list.before.clone(),
            after: list.after.clone(),
            indent: list.indent,
            line_after: new.line,
            pieces: new.pieces,
        };
        Some(Self::new((size, new.ends_line), Some(list), around))
    }
}

/// The pieces of a new list, as far as they are known.
struct NewPieces<'l> {
    /// The list before.
    list: &'l CutList,
    pieces: Vec<CutPiece>,
    /// Where the next piece begins in the new file, and the number of its first line.
    start: usize,
    line: u32,
    /// Whether the new file ends in a newline.
    ends_line: bool,
}

impl NewPieces<'_> {
    /// Adds pieces of the list before.
    fn keep(&mut self, numbers: Range<usize>) {
        for number in numbers {
            let old = self.list.pieces[number];
            let next = self.list.pieces.get(number + 1);
            let lines = next.map_or(self.list.line_after, |next| next.line) - old.line;
            self.pieces.push(CutPiece {
                start: self.start,
                line: self.line,
                ..old
            });
            self.start += old.length;
            self.line += lines;
        }
    }

    /// Cuts the list again from a piece on, up to the next border that it has already; returns the number
    /// of the piece from there on, and the parts from there on.
    fn cut_again<'p, S: AsRef<str>>(
        &mut self,
        from: usize,
        mut parts: Replaced<'p, S>,
        read: ReadText<'_>,
    ) -> Option<(usize, Replaced<'p, S>)> {
        let all = &self.list.pieces;
        let mut scan = LineScan::of_list(self.list.indent, self.line, from == 0);
        let mut piece = String::new();
        // Up to where the file before is replaced.
        let mut replaced = 0;
        for (number, old) in all.iter().enumerate().skip(from) {
            let is_last = number + 1 == all.len();
            let before = parts.len();
            let new = replaced_in(old, is_last, &mut parts, &mut replaced, read)?;
            let is_same = parts.len() == before && replaced <= old.start;
            for (at, line) in new.split_inclusive('\n').enumerate() {
                let content = line.strip_suffix('\n');
                if content.is_none() && !(is_last && self.list.after.as_deref() == Some("")) {
                    return None;
                }
                match scan.pass(content.unwrap_or(line).as_bytes()) {
                    CutStep::Continue => {}
                    CutStep::Border => {
                        self.push(&mut piece, &mut scan);
                        self.line = scan.number - 1;
                        if is_same && number > from && at == 0 {
                            return Some((number, parts));
                        }
                    }
                    CutStep::Begin | CutStep::End | CutStep::Decline => return None,
                }
                piece.push_str(line);
            }
        }
        if scan.indent != Some(self.list.indent) || !scan.has_entries {
            return None;
        }
        if self.list.after.as_deref() == Some("") {
            self.ends_line = piece.ends_with('\n');
        }
        self.push(&mut piece, &mut scan);
        self.line = scan.number;
        Some((all.len(), parts))
    }

    /// Adds a piece that was cut.
    fn push(&mut self, piece: &mut String, scan: &mut LineScan) {
        self.pieces.push(CutPiece {
            id: PieceId::of(piece.as_bytes()),
            start: self.start,
            length: piece.len(),
            line: self.line,
            gaps: scan.take_gaps(),
        });
        self.start += piece.len();
        piece.clear();
    }
}

/// Returns the new text of a piece, and moves over the parts that are replaced in it; `replaced` is up to
/// where the file was replaced before.
fn replaced_in<S: AsRef<str>>(
    piece: &CutPiece,
    is_last: bool,
    parts: &mut Replaced<'_, S>,
    replaced: &mut usize,
    read: ReadText<'_>,
) -> Option<String> {
    let Range { start, end } = piece.range();
    let text = read(start..end)?;
    let mut new = String::with_capacity(text.len());
    let mut at = start.max(*replaced).min(end);
    while let Some(((range, with), rest)) = parts.split_first()
        && (range.start < end || is_last)
    {
        new.push_str(text.get(at - start..range.start - start)?);
        new.push_str(with.as_ref());
        *replaced = range.end;
        at = range.end.min(end);
        *parts = rest;
    }
    new.push_str(text.get(at - start..)?);
    Some(new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns lines of a list, as few bytes decide.
    fn lines(bytes: &[u8]) -> String {
        let line = |byte: &u8| match byte % 12 {
            0 => "\n".to_owned(),
            1 => "# a\n".to_owned(),
            2 => "  # b\n".to_owned(),
            3 => format!("  short-code: c{byte}\n"),
            4 => "  aliases:\n  - d\n".to_owned(),
            _ => format!(
                "- url: https://e.org/{byte}/{}\n",
                "x".repeat(usize::from(*byte) % 50)
            ),
        };
        bytes.iter().map(line).collect()
    }

    proptest! {
        #[test]
        fn the_result_is_that_of_cutting_the_new_file(
            before in prop::collection::vec(any::<u8>(), 1..200),
            parts in prop::collection::vec((any::<prop::sample::Index>(), 0..6_usize, prop::collection::vec(any::<u8>(), 0..20)), 0..4),
            after in 0..3_usize,
            has_mark: bool,
            cuts_lines: bool,
        ) {
            let mark = if has_mark { "\u{feff}" } else { "" };
            let list = lines(&before);
            let after = ["", "tests: []\n", "tests: []"][after];
            let text = format!("{mark}base_url: https://e.org/\nmapping:\n{list}{after}");
            let begin = text.len() - list.len() - after.len();
            let starts: Vec<_> = match cuts_lines {
                true => (begin..=begin + list.len()).collect(),
                false => (text.split_inclusive('\n'))
                    .scan(0, |at, line| Some(std::mem::replace(at, *at + line.len())))
                    .chain([begin + list.len()])
                    .filter(|it| (begin..=begin + list.len()).contains(it))
                    .collect(),
            };
            let mut ranges: Vec<_> = (parts.iter())
                .map(|(at, length, with)| {
                    let start = at.index(starts.len());
                    let end = (start + length).min(starts.len() - 1);
                    (starts[start]..starts[end], lines(with))
                })
                .collect();
            ranges.sort_by_key(|(range, _)| (range.start, range.end));
            ranges.dedup_by(|b, a| b.0.start < a.0.end);
            let mut new = text.clone();
            for (range, with) in ranges.iter().rev() {
                new.replace_range(range.clone(), with);
            }
            let cut = Cut::of(text.as_bytes());
            let read = |range| text.get(range).map(str::to_owned);
            if let Some(replaced) = cut.replaced(&ranges, &read) {
                prop_assert_eq!(replaced, Cut::of(new.as_bytes()));
            } else if !cuts_lines && cut.list.is_some() {
                // Only a list without entries, or one that begins otherwise, is cut as a whole.
                let begins = new[begin..].starts_with("- ") && text[begin..].starts_with("- ");
                prop_assert!(!begins, "{:?} {:?}", text, ranges);
            }
        }
    }
}
