//! The order of the codes of the next version of a site, made from that of the version before.
//!
//! Entries of unchanged pieces keep their order. Their places and numbers move by distances that are
//! the same for many of them, so nothing is sorted but what was added.

use std::ops::Range;

use super::order::{CodeOrder, dates, has_punycode, have_punycode};
use super::slot::SlotNumber;
use super::written::WrittenOrder;
use crate::mapping::packed::{Kept, KeptNumbers, SharedRun, Site, index};
use crate::mapping::value::Timestamp;

/// The part of all entries that may be new: with more, all are sorted.
const MAX_ADDED: usize = 4;

/// How the order of codes changes from one version of a site to the next.
///
/// Both versions are compared first; what follows from that needs neither. So the earlier one can be
/// dropped before the next order takes memory.
#[derive(Debug)]
pub struct OrderChange {
    /// In the order of both versions.
    runs: Vec<PlaceRun>,
    /// The new numbers of entries.
    numbers: KeptNumbers,
    /// In the order of their codes.
    added: Vec<AddedCode>,
    /// The slots of the same, in written order.
    added_slots: Vec<SlotNumber>,
    has_punycode: bool,
    dates: Vec<Timestamp>,
}

/// The places of entries that both versions have.
#[derive(Debug)]
struct PlaceRun {
    old: Range<u32>,
    /// The first of them in the next version.
    new: u32,
    /// The distance by which the numbers of their listed codes move, modulo 2^32.
    listed_by: u32,
}

/// An entry that was added.
#[derive(Debug)]
struct AddedCode {
    /// The number of entries of the earlier version that have a code up to its own.
    position: usize,
    place: u32,
}

impl OrderChange {
    /// Compares two versions of a site, of which the earlier one has an order; `None` if they have too
    /// little in common.
    pub fn between(old: &Site, order: &CodeOrder, new: &Site) -> Option<Self> {
        let written = &order.written;
        let shared = SharedRun::between(old, new);
        let has_gaps = written.len() != old.len();
        if has_gaps || shared.is_empty() {
            return None;
        }
        let (mut runs, mut added_slots) = (Vec::new(), Vec::new());
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        let mut added_codes = Vec::new();
        let mut texts_have_punycode = false;
        let (mut old_place, mut new_place) = (0, 0);
        let mut new_target = new.targets.texts().start();
        let (old_end, new_end) = (old.targets.end(), new.targets.end());
        let end = SharedRun {
            old: old_end..old_end,
            new: new_end..new_end,
        };
        for run in shared.into_iter().chain([end]) {
            let places = written.places_of(old, run.old.clone());
            let gone = (old_place..places.start).map(|it| written.slot(old, it));
            removed.extend(gone.map(|slot| slot.entry.number()));
            old_place = places.end;

            let changed = new_target..run.new.start;
            for entry in new.entries_between(changed.clone()) {
                let position = order.position_after(old, &entry.code());
                added_codes.push((position, entry.code(), new_place));
                added.push(entry.number());
                let listed = entry.first_listed().map(SlotNumber::of_listed);
                added_slots.push(listed.unwrap_or_else(|| SlotNumber::of_entry(entry.number())));
                new_place += 1;
            }
            if added.len() > new.len() / MAX_ADDED {
                return None;
            }
            let texts = new.targets.texts().between(changed).map(|(_, text)| text);
            texts_have_punycode = texts_have_punycode || have_punycode(new, texts);
            new_target = run.new.end;

            let [old_listed, new_listed] =
                [(old, &run.old), (new, &run.new)].map(|(site, run)| site.listed_between(run));
            let kept = places.end - places.start;
            runs.push(PlaceRun {
                old: places,
                new: new_place,
                listed_by: index(new_listed.start).wrapping_sub(index(old_listed.start)),
            });
            new_place += kept;
        }
        removed.sort_unstable();
        added.sort_unstable();
        added_codes.sort_unstable_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        let added_codes = added_codes.into_iter();
        Some(Self {
            runs,
            numbers: old.index.kept_numbers(&new.index, &removed, &added),
            added: added_codes
                .map(|(position, _, place)| AddedCode { position, place })
                .collect(),
            added_slots,
            has_punycode: match order.has_punycode {
                true => has_punycode(new),
                false => texts_have_punycode,
            },
            dates: dates(new),
        })
    }

    /// Returns the order of the next version, given that of the version before.
    pub fn apply(&self, order: &CodeOrder) -> CodeOrder {
        CodeOrder {
            written: WrittenOrder::of(self.slots(order)),
            places: self.places(order),
            has_punycode: self.has_punycode,
            dates: self.dates.clone(),
        }
    }

    fn slots(&self, order: &CodeOrder) -> Vec<SlotNumber> {
        let old = order.written.numbers();
        let mut slots = Vec::with_capacity(self.len());
        let mut added = self.added_slots.iter().copied();
        for run in &self.runs {
            let new = run.new as usize - slots.len();
            slots.extend(added.by_ref().take(new));
            let kept = &old[run.old.start as usize..run.old.end as usize];
            slots.extend(kept.iter().map(|slot| match slot.entry() {
                Some(number) => SlotNumber::of_entry(self.numbers.of(number)),
                None => slot.listed_moved(run.listed_by),
            }));
        }
        slots
    }

    fn places(&self, order: &CodeOrder) -> Vec<u32> {
        let mut kept = Kept::new(index(order.places.len()));
        for run in &self.runs {
            kept.push(run.old.clone(), run.new);
        }
        let kept = |place: &u32| kept.of(*place);
        let mut places = Vec::with_capacity(self.len());
        let mut before = 0;
        for added in &self.added {
            places.extend(order.places[before..added.position].iter().filter_map(kept));
            places.push(added.place);
            before = added.position;
        }
        places.extend(order.places[before..].iter().filter_map(kept));
        places
    }

    /// Returns the number of entries of the next version.
    fn len(&self) -> usize {
        let kept = self.runs.iter().map(|run| run.old.len());
        kept.sum::<usize>() + self.added.len()
    }
}
