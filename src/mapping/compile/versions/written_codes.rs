//! The positions of the listed codes of a site, needed only for reports of problems.
//!
//! A table does not store them. Those of pieces that were not read are found by reading them again.

use super::pieces::PiecedFile;
use crate::mapping::packed::{ChangedSite, Draft, Site};
use crate::mapping::value::Position;

/// Where the listed codes of a site are written.
pub(super) enum WrittenCodes<'p, 't> {
    New(Draft),
    Changed {
        draft: Draft,
        /// The numbers of the codes of the draft.
        added: Vec<u32>,
        /// The pieces, each with its file and its number there.
        pieces: Vec<(&'p PiecedFile<'t>, usize)>,
        /// The last piece that was read again for the positions of its codes.
        last: Option<(usize, Vec<Position>)>,
        /// Whether the text of an unread piece was needed.
        lacks_text: bool,
    },
}

impl<'p, 't> WrittenCodes<'p, 't> {
    /// Returns a changed site, and where its codes are written.
    pub(super) fn of_changed(
        changed: ChangedSite,
        draft: Draft,
        pieces: Vec<(&'p PiecedFile<'t>, usize)>,
    ) -> (Site, Self) {
        let codes = Self::Changed {
            draft,
            added: changed.added_codes,
            pieces,
            last: None,
            lacks_text: false,
        };
        (changed.site, codes)
    }

    /// Returns whether the text of an unread piece was needed: then some position is wrong.
    pub(super) fn lacks_text(&self) -> bool {
        matches!(self, Self::Changed { lacks_text, .. } if *lacks_text)
    }

    /// Returns the position of a listed code, given by its number in the site.
    pub(super) fn position(&mut self, site: &Site, number: usize) -> Position {
        match self {
            Self::New(draft) => draft.codes[number].position,
            Self::Changed {
                draft,
                added,
                pieces,
                last,
                lacks_text,
            } => {
                if let Ok(at) = added.binary_search_by_key(&number, |&it| it as usize) {
                    return draft.codes[at].position;
                }
                let entry = site.entry(site.codes.listed()[number].entry);
                let piece = site.piece_of(entry.written());
                if !matches!(last, Some((known, _)) if *known == piece) {
                    let (file, part) = pieces[piece];
                    let Some(positions) = file.code_positions(part, site.scheme()) else {
                        *lacks_text = true;
                        return Position::START;
                    };
                    *last = Some((piece, positions));
                }
                let positions = last.as_ref().map(|(_, positions)| positions);
                let first = site.listed_between(&site.targets_of_piece(piece)).start;
                let position = positions.and_then(|it| it.get(number - first));
                position
                    .copied()
                    .expect("a known piece has the codes that it had")
            }
        }
    }
}
