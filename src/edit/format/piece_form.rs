//! The form of a piece: what decides whether formatting changes it, and with which others.

use super::entry_lines::EntryLines;
use crate::edit::layout::{comments_len, is_blank};
use crate::mapping::{Code, Outline, Scheme};

/// The form of a piece of a list.
#[derive(Debug)]
pub(super) struct PieceForm {
    /// Whether formatting it alone changes it.
    pub(super) is_changed: bool,
    /// Whether a section begins in it, at an entry that is not its first.
    has_heading: bool,
    /// Whether its entries of the section of its first entry are sorted, and those of its last entry.
    is_sorted: [bool; 2],
    /// The codes of its first and its last entry.
    codes: [Code; 2],
    /// Whether a heading follows its last entry.
    ends_section: bool,
    /// The length of the text after its last entry, which belongs to the first entry of the next piece.
    pub(super) rest: usize,
}

impl PieceForm {
    /// Returns the form of a piece, given the column of the dashes and its first line; `None` if it is not
    /// in block form.
    pub(super) fn of(text: &str, place: (usize, u32), scheme: Scheme) -> Option<Self> {
        let outline = Outline::of_piece(text, place, scheme)?;
        let mut lines = EntryLines::default();
        lines.add(text, 0, outline.entries);
        let rest = &text[lines.end()..];
        let (dash, _) = place;
        let above = &rest[..rest.len() - comments_len(rest, dash)];
        let mut are_sorted = lines.are_sorted();
        let first = are_sorted.next()?;
        let last = are_sorted.next_back();
        let are_others_sorted = are_sorted.all(|is_sorted| is_sorted);
        let is_sorted = [first, last.unwrap_or(first)];
        Some(Self {
            is_changed: lines.are_rewritten() || !are_others_sorted || is_sorted != [true; 2],
            has_heading: last.is_some(),
            is_sorted,
            codes: lines.ends()?.map(Code::clone),
            ends_section: !is_blank(above),
            rest: rest.len(),
        })
    }
}

/// Some pieces, one after another, that are formatted together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PieceGroup {
    /// The number of pieces.
    pub(super) count: usize,
    /// Whether formatting changes them.
    pub(super) is_changed: bool,
}

/// Groups the pieces of a list: those that share a section that is not sorted go together.
pub(super) fn grouped(pieces: &[PieceForm]) -> Vec<PieceGroup> {
    let mut joined = vec![false; pieces.len()];
    let mut section = SectionSoFar {
        first: 0,
        is_sorted: true,
    };
    for (number, piece) in pieces.iter().enumerate() {
        let before = number.checked_sub(1).map(|before| &pieces[before]);
        let goes_on = before.filter(|before| !before.ends_section);
        section = match goes_on {
            Some(before) => SectionSoFar {
                is_sorted: section.is_sorted
                    && before.codes[1] <= piece.codes[0]
                    && piece.is_sorted[0],
                ..section
            },
            None => SectionSoFar {
                first: number,
                is_sorted: piece.is_sorted[0],
            },
        };
        section.join(&mut joined, number);
        if piece.has_heading {
            section = SectionSoFar {
                first: number,
                is_sorted: piece.is_sorted[1],
            };
        }
    }
    let mut groups: Vec<PieceGroup> = Vec::new();
    for (piece, is_joined) in pieces.iter().zip(joined) {
        match groups.last_mut().filter(|_| is_joined) {
            Some(group) => {
                group.count += 1;
                group.is_changed = true;
            }
            None => groups.push(PieceGroup {
                count: 1,
                is_changed: piece.is_changed,
            }),
        }
    }
    groups
}

/// A section, as far as it was passed.
struct SectionSoFar {
    /// The number of the piece in which it begins.
    first: usize,
    is_sorted: bool,
}

impl SectionSoFar {
    /// Joins the pieces of the section up to one with the pieces before them, if it is not sorted.
    fn join(&mut self, joined: &mut [bool], last: usize) {
        if !self.is_sorted {
            joined[self.first + 1..=last].fill(true);
            self.first = last;
        }
    }
}
