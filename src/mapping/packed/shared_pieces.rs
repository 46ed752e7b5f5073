//! The parts that two versions of a site share: the entries of pieces that both have are equal.
//!
//! So only the other entries of two versions are compared, which are few if little has changed.

use std::collections::HashMap;
use std::ops::Range;

use super::site::Site;
use super::stores::Text;
use crate::mapping::value::Defaults;
use crate::mapping::value::PieceId;

/// The numbers of the entries of two versions of a site that are in no piece of both, in order.
pub(crate) struct Differing {
    pub(crate) old: Vec<u32>,
    pub(crate) new: Vec<u32>,
}

impl Differing {
    /// Compares two versions of a site by their pieces; `None` if that is not possible.
    pub(crate) fn between(old: &Site, new: &Site) -> Option<Self> {
        if old.base_url() != new.base_url() || old.scheme() != new.scheme() {
            return None;
        }
        let known: HashMap<_, _> = (new.identified_pieces())
            .map(|(id, defaults, number)| (id, (defaults, number)))
            .collect();
        let (mut only_old, mut only_new) = (
            vec![true; old.pieces().len()],
            vec![true; new.pieces().len()],
        );
        let mut are_alike = false;
        for (id, defaults, number) in old.identified_pieces() {
            if let Some(&(same, other)) = known.get(&id)
                && same == defaults
            {
                only_old[number] = false;
                only_new[other] = false;
                are_alike = true;
            }
        }
        are_alike.then(|| Self {
            old: old.entries_of(&only_old),
            new: new.entries_of(&only_new),
        })
    }
}

/// Entries that follow each other in two versions of a site, and say the same in both.
#[derive(Debug, Clone)]
pub(crate) struct SharedRun {
    /// Their targets in either version.
    pub(crate) old: Range<Text>,
    pub(crate) new: Range<Text>,
}

impl SharedRun {
    /// Returns what two versions of a site have in common, in the order of both.
    pub(crate) fn between(old: &Site, new: &Site) -> Vec<Self> {
        if old.base_url() != new.base_url() || old.scheme() != new.scheme() {
            return Vec::new();
        }
        let known: HashMap<_, _> = (old.identified_pieces())
            .map(|(id, defaults, number)| (id, (defaults, number)))
            .collect();
        let mut runs: Vec<Self> = Vec::new();
        for (id, defaults, number) in new.identified_pieces() {
            let Some(&(same, other)) = known.get(&id) else {
                continue;
            };
            let run = Self {
                old: old.targets_of_piece(other),
                new: new.targets_of_piece(number),
            };
            match runs.last_mut() {
                _ if same != defaults => {}
                Some(last) if last.old.end > run.old.start => {}
                Some(last) if last.old.end == run.old.start && last.new.end == run.new.start => {
                    (last.old.end, last.new.end) = (run.old.end, run.new.end);
                }
                _ => runs.push(run),
            }
        }
        runs
    }
}

impl Site {
    /// Returns the pieces that another version may have too, with the defaults that apply to them and
    /// their numbers.
    fn identified_pieces(&self) -> impl Iterator<Item = (PieceId, Defaults, usize)> {
        let pieces = self.pieces();
        let documents = pieces.files().filter_map(|file| pieces.of_file(file));
        documents.flat_map(move |(document, numbers)| {
            numbers.filter_map(move |number| {
                Some((pieces.piece(number).id?, document.defaults, number))
            })
        })
    }

    /// Returns the numbers of the entries of the chosen pieces, in order.
    fn entries_of(&self, chosen: &[bool]) -> Vec<u32> {
        let mut ranges: Vec<Range<Text>> = Vec::new();
        for (number, _) in chosen.iter().enumerate().filter(|(_, chosen)| **chosen) {
            let range = self.targets_of_piece(number);
            match ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => ranges.push(range),
            }
        }
        self.numbers_between(&ranges)
    }
}
