//! The order of codes, in which a site is listed, starting at any code.
//!
//! An entry is listed once, at its own code; its aliases are searched there too. The order is that
//! of the bytes of codes, which is also that of their characters.

use std::cmp::Ordering;

use memchr::memmem;

use super::slot::{Slot, start_of};
use super::word::PUNYCODE;
use super::written::WrittenOrder;
use crate::mapping::packed::Site;
use crate::mapping::value::{Retired, Timestamp};

/// The entries of a site, in the order of their codes and as they are written: eight bytes for each,
/// and eight for each date on which one ends.
#[derive(Debug)]
pub struct CodeOrder {
    pub(super) written: WrittenOrder,
    /// The place of each entry in written order.
    pub(super) places: Vec<u32>,
    /// Whether a target may have a host in Punycode.
    pub(super) has_punycode: bool,
    /// The dates on which an entry expires or is retired, the first one first.
    pub(super) dates: Vec<Timestamp>,
}

impl CodeOrder {
    /// Sorts the entries of a site. Meanwhile, this takes sixteen bytes an entry.
    pub fn new(site: &Site) -> Self {
        let written = WrittenOrder::new(site);
        let mut sorted = Vec::with_capacity(site.len());
        sorted.extend(written.slots(site).map(|(place, slot)| {
            let [high, low] = slot.code_start();
            (high, low, place)
        }));
        // Comparing numbers is much faster; the few codes with the same start are compared
        // afterwards.
        let start = |&(high, low, _): &(u32, u32, u32)| u64::from(high) << 32 | u64::from(low);
        sorted.sort_unstable_by_key(start);
        let code = |place| written.slot(site, place).code();
        for same in sorted.chunk_by_mut(|one, other| start(one) == start(other)) {
            same.sort_unstable_by(|one, other| code(one.2).cmp(&code(other.2)));
        }
        // It is collected in place.
        let mut places: Vec<u32> = sorted.into_iter().map(|(_, _, place)| place).collect();
        places.shrink_to_fit();
        Self {
            written,
            places,
            has_punycode: has_punycode(site),
            dates: dates(site),
        }
    }

    /// Returns how many dates of entries, on which one expires or is retired, have passed: as long
    /// as this stays the same, so do the results of a search.
    pub fn dates_before(&self, now: Timestamp) -> usize {
        self.dates.partition_point(|date| *date <= now)
    }

    /// Returns how many entries of its site have a code up to the given one.
    pub fn position_after(&self, site: &Site, code: &str) -> usize {
        let start = start_of(code);
        let is_before = |&place: &u32| {
            let slot = self.slot(site, place);
            match slot.code_start().cmp(&start) {
                Ordering::Equal => *slot.code() <= *code,
                order => order.is_lt(),
            }
        };
        self.places.partition_point(is_before)
    }

    /// Returns the entry at a place in written order.
    pub(super) fn slot<'t>(&self, site: &'t Site, place: u32) -> Slot<'t> {
        self.written.slot(site, place)
    }

    /// Returns the memory in use, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.places.capacity() * size_of::<u32>()
            + self.written.heap_bytes()
            + self.dates.capacity() * size_of::<Timestamp>()
    }
}

/// Returns whether a target of a site may have a host in Punycode.
pub(super) fn has_punycode(site: &Site) -> bool {
    let chunks = site.targets.texts().chunks();
    have_punycode(site, chunks.map(|(_, chunk)| chunk))
}

/// Returns whether the hosts of a site, or some texts of its targets, may have Punycode.
pub(super) fn have_punycode<'t>(site: &'t Site, mut texts: impl Iterator<Item = &'t str>) -> bool {
    let finder = memmem::Finder::new(PUNYCODE);
    let is_in = |text: &str| finder.find(text.as_bytes()).is_some();
    site.targets.hosts().iter().any(is_in) || texts.any(is_in)
}

/// Returns the dates on which an entry of a site expires or is retired, the first one first.
pub(super) fn dates(site: &Site) -> Vec<Timestamp> {
    let dates = site.notes.terms().flat_map(|(_, term)| {
        let retired = match term.retired {
            Some(Retired::From(time)) => Some(time),
            Some(Retired::Always) | None => None,
        };
        term.expires.into_iter().chain(retired)
    });
    let mut dates: Vec<_> = dates.collect();
    dates.sort_unstable();
    dates.shrink_to_fit();
    dates
}
