//! The entries of a site as they are written, in four bytes each.
//!
//! This is the order in which their targets, notes and codes are in memory. An entry is identified by
//! its place in it.

use std::ops::Range;

use super::slot::{Slot, SlotNumber};
use crate::mapping::packed::{Site, Text, index};

/// The slot of each text of a site's targets, which have one for each entry. Entries that were
/// removed as duplicates leave empty slots.
#[derive(Debug, Default)]
pub(super) struct WrittenOrder(Vec<SlotNumber>);

impl WrittenOrder {
    /// Finds the entries of a site. Meanwhile, this takes eight bytes more for each.
    pub(super) fn new(site: &Site) -> Self {
        let numbers = site.index.numbers();
        let mut sorted: Vec<_> = numbers
            .map(|number| (site.entry(number).written(), number))
            .collect();
        // No two have the same target in memory.
        sorted.sort_unstable_by_key(|(written, _)| *written);
        let mut slots = Vec::with_capacity(sorted.len());
        let mut entries = sorted.into_iter().peekable();
        // Codes are listed in the order of their entries.
        let mut listed = (0..).zip(site.codes.listed()).peekable();
        for (target, ..) in site.targets.iter() {
            let Some((_, number)) = entries.next_if(|(written, _)| *written == target) else {
                slots.push(SlotNumber::NONE);
                continue;
            };
            let first = listed.peek().filter(|(_, code)| code.entry == number);
            slots.push(match first {
                Some((first, _)) => SlotNumber::of_listed(*first),
                None => SlotNumber::of_entry(number),
            });
            while listed.next_if(|(_, code)| code.entry == number).is_some() {}
        }
        slots.shrink_to_fit();
        Self(slots)
    }

    /// Returns the order that has the given slots.
    pub(super) fn of(slots: Vec<SlotNumber>) -> Self {
        Self(slots)
    }

    /// Returns the number of each slot, in order.
    pub(super) fn numbers(&self) -> &[SlotNumber] {
        &self.0
    }

    /// Returns the places of the entries with some targets.
    pub(super) fn places_of(&self, site: &Site, targets: Range<Text>) -> Range<u32> {
        let before = |end| {
            let is_before = |slot: &SlotNumber| Slot::new(site, *slot).entry.written() < end;
            index(self.0.partition_point(is_before))
        };
        before(targets.start)..before(targets.end)
    }

    /// Returns the number of places.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the slot of the entry at a place.
    pub(super) fn slot<'t>(&self, site: &'t Site, place: u32) -> Slot<'t> {
        Slot::new(site, self.0[place as usize])
    }

    /// Returns the slot of each entry, with its place.
    pub(super) fn slots<'t>(&self, site: &'t Site) -> impl Iterator<Item = (u32, Slot<'t>)> {
        let places = (0..).zip(&self.0);
        let entries = places.filter(|(_, slot)| **slot != SlotNumber::NONE);
        entries.map(|(place, slot)| (place, Slot::new(site, *slot)))
    }

    /// Returns a function that gives the place of the entry of a listed code, for codes in the order in
    /// which they are listed.
    pub(super) fn places_of_listed(&self) -> impl FnMut(u32) -> u32 {
        let places = (0..).zip(&self.0);
        let firsts = places.filter_map(|(place, slot)| Some((place, slot.first_listed()?)));
        let mut firsts = firsts.peekable();
        let mut current = 0;
        move |listed| {
            while let Some((place, _)) = firsts.next_if(|(_, first)| *first <= listed) {
                current = place;
            }
            current
        }
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.0.capacity() * size_of::<SlotNumber>()
    }
}
