//! Insertion of entries into a list in pieces: only the pieces around new entries are read, and where
//! the last of several sections begins.
//!
//! The result is that of inserting them into the whole document.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::NewEntry;
use super::list::{LastSection, List};
use super::window::ListPieces;
use crate::mapping::{Code, Gaps};

/// Returns what is inserted where, in bytes of the file and in order. `is_sorted_from` returns whether
/// the entries from a piece on are sorted by code.
///
/// `None` if the text is not there, the gaps of a piece are not known, or an entry cannot be inserted
/// this way: then it may be possible in the whole document, and if it is not, the reason is found there.
pub fn insert_in_pieces(
    list: &ListPieces<'_>,
    entries: &[&NewEntry],
    is_sorted_from: &dyn Fn(usize) -> bool,
) -> Option<Vec<(Range<usize>, String)>> {
    let begin = SectionBegin::find(list, is_sorted_from)?;
    let mut by_piece: BTreeMap<usize, Vec<&NewEntry>> = BTreeMap::new();
    for entry in entries {
        let code = entry.own_code(list.scheme);
        let piece = begin.piece_for(list, &code)?;
        by_piece.entry(piece).or_default().push(entry);
    }
    let mut parts = Vec::new();
    for (piece, entries) in by_piece {
        let has_begin = begin.section.is_sorted && piece == begin.piece;
        let window = if has_begin {
            list.window(begin.window.clone())
        } else if begin.section.is_sorted {
            list.window(piece..piece + 1)
        } else {
            list.last_entry(piece)
        };
        let window = window?;
        let outline = window.outline()?;
        let section = LastSection {
            first: begin.section.first.filter(|_| has_begin),
            ..begin.section
        };
        let inserted = List::part_of(&outline, &section).insert(&entries).ok()?;
        let inserted = inserted.into_iter();
        parts.extend(inserted.map(|(at, lines)| (window.range_in_file(at..at), lines)));
    }
    Some(parts)
}

/// The begin of the last section of a list.
struct SectionBegin {
    /// The first piece with entries of the section, or the one before it.
    piece: usize,
    /// The pieces in which the section and its first entry are outlined.
    window: Range<usize>,
    section: LastSection,
    /// The first codes of pieces that were needed.
    first_codes: RefCell<HashMap<usize, Code>>,
}

impl SectionBegin {
    fn find(list: &ListPieces<'_>, is_sorted_from: &dyn Fn(usize) -> bool) -> Option<Self> {
        let pieces = list.cut.pieces();
        let gaps: Option<Vec<_>> = pieces.iter().map(|piece| piece.gaps).collect();
        let gaps = gaps?;
        let Some(piece) = gaps.iter().rposition(|gaps| gaps.have_heading) else {
            return Some(Self::of_only_section(&gaps, is_sorted_from));
        };
        // An entry at the begin of a piece has its heading at the end of the one before it.
        let window = piece..(piece + 2).min(pieces.len());
        let read = list.window(window.clone())?;
        let outline = read.outline()?;
        let known = List::of(&outline);
        let mut section = known.last_section();
        if known.section().is_empty() || section.first == Some(0) {
            return None;
        }
        if window.end < pieces.len() {
            let rest = &gaps[window.end - 1..];
            let is_alone = known.section().len() == 1;
            section.is_spaced |= is_alone;
            section.is_spaced &= !rest.iter().any(|gaps| gaps.have_none);
            section.is_sorted = section.is_sorted && is_sorted_from(window.end - 1);
        }
        Some(Self {
            piece,
            window,
            section,
            first_codes: RefCell::default(),
        })
    }

    /// Returns the begin of the only section of a list, given its gaps.
    fn of_only_section(gaps: &[Gaps], is_sorted_from: &dyn Fn(usize) -> bool) -> Self {
        let any = |have: fn(&Gaps) -> bool| gaps.iter().any(have);
        Self {
            piece: 0,
            window: 0..1,
            section: LastSection {
                first: Some(0),
                is_spaced: any(|gaps| gaps.have_blank) && !any(|gaps| gaps.have_none),
                is_sorted: is_sorted_from(0),
            },
            first_codes: RefCell::default(),
        }
    }

    /// Returns the piece in which an entry with a code goes: the last one if the section is not sorted.
    fn piece_for(&self, list: &ListPieces<'_>, code: &Code) -> Option<usize> {
        let count = list.cut.pieces().len();
        if !self.section.is_sorted {
            return Some(count - 1);
        }
        let (mut from, mut to) = (self.piece + 1, count);
        while from < to {
            let middle = from + (to - from) / 2;
            match self.first_code(list, middle)? <= *code {
                true => from = middle + 1,
                false => to = middle,
            }
        }
        let piece = from - 1;
        Some(if self.window.contains(&piece) {
            self.piece
        } else {
            piece
        })
    }

    fn first_code(&self, list: &ListPieces<'_>, piece: usize) -> Option<Code> {
        if let Some(code) = self.first_codes.borrow().get(&piece) {
            return Some(code.clone());
        }
        let window = list.first_entry(piece)?;
        let code = window.outline()?.entries.first()?.code.clone();
        self.first_codes.borrow_mut().insert(piece, code.clone());
        Some(code)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::mapping::{Cut, Scheme, SourceFile, compile_after};

    /// Returns whether the entries of a table, each a code and its lines, are sorted from the first piece on,
    /// and from the last one; one in five has a custom code.
    fn sorted(order: impl Fn(&mut Vec<(String, String)>)) -> [bool; 2] {
        let url = |number: u32| format!("https://e.example/{number}");
        let mut entries: Vec<_> = (0..200)
            .map(|number| match number % 5 {
                0 => (format!("Q{number}"), format!("  short-code: Q{number}\n")),
                _ => (Scheme::Sha256.code(&url(number)).to_string(), String::new()),
            })
            .zip(0..)
            .map(|((code, line), number)| (code, format!("- url: {}\n{line}", url(number))))
            .collect();
        order(&mut entries);
        let mut text = "base_url: https://s.example/\nmapping:\n".to_owned();
        for (_, lines) in entries {
            write!(text, "{lines}").unwrap();
        }
        let file = SourceFile::new("t.yaml".into(), text.into());
        let table = compile_after(std::slice::from_ref(&file), None)
            .table
            .unwrap();
        let last = Cut::of(&file.bytes).pieces().len() - 1;
        assert!(last > 1);
        [0, last].map(|piece| table.sites()[0].is_sorted_from("t.yaml", piece))
    }

    #[test]
    fn all_codes_decide_whether_entries_are_sorted() {
        assert_eq!(sorted(|entries| entries.sort()), [true, true]);
        let swapped = |at: usize| {
            move |entries: &mut Vec<_>| {
                entries.sort();
                entries.swap(at, at + 1);
            }
        };
        assert_eq!(sorted(swapped(0)), [false, true]);
        assert_eq!(sorted(swapped(100)), [false, true]);
        assert_eq!(sorted(swapped(198)), [false, false]);
    }
}
