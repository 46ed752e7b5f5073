//! Insertion of entries into a list in pieces: only the pieces around new entries are read, and where
//! a section may begin.
//!
//! The result is that of inserting them into the whole document.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::NewEntry;
use super::list::{LastSection, List};
use super::window::ListPieces;
use crate::mapping::Code;

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
        let is_first = piece == begin.piece;
        let window = list.window(match is_first {
            true => begin.window.clone(),
            false => piece..piece + 1,
        })?;
        let outline = window.outline()?;
        let section = LastSection {
            first: begin.section.first.filter(|_| is_first),
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
        let headed = gaps.iter().rposition(|gaps| gaps.have_heading);
        let piece = headed.unwrap_or(0);
        // An entry at the begin of a piece has its heading at the end of the one before it.
        let window = piece..(piece + 2).min(pieces.len());
        let read = list.window(window.clone())?;
        let outline = read.outline()?;
        let known = List::of(&outline);
        let mut section = known.last_section();
        if known.section().is_empty() || headed.is_some() != (section.first != Some(0)) {
            return None;
        }
        let rest = &gaps[window.end - 1..];
        if window.end < pieces.len() {
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

    /// Returns the piece in which an entry with a code goes.
    fn piece_for(&self, list: &ListPieces<'_>, code: &Code) -> Option<usize> {
        let count = list.cut.pieces().len();
        if !self.section.is_sorted {
            // A short section is in the window.
            return Some(if self.window.end == count {
                self.piece
            } else {
                count - 1
            });
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
        let window = list.window(piece..piece + 1)?;
        let code = window.outline()?.entries.first()?.code.clone();
        self.first_codes.borrow_mut().insert(piece, code.clone());
        Some(code)
    }
}
