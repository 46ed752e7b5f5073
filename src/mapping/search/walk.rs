//! Walks: the entries that a filter selects, in the order of their codes.
//!
//! If many entries are selected, the first of them are soon found by checking one after the other.
//! If that finds too few in a part of a site, a scan determines which of the others must be
//! checked.

use std::hint::black_box;

use super::bits::Bits;
use super::filter::Filter;
use super::order::CodeOrder;
use super::scan::Scan;
use crate::mapping::packed::{Entry, Site};
use crate::mapping::value::Timestamp;

/// The part of all entries that are checked before the rest is scanned, which takes less time than
/// a scan.
const BEFORE_SCAN: usize = 128;

/// How many entries are visited together: their texts fit into the first caches of a processor.
const CHUNK: usize = 64;

/// How many entries that are not candidates are skipped between two calls of `goes_on`.
const ASKED: usize = 1 << 14;

impl CodeOrder {
    /// Returns the entries of its site that a filter selects at the given time, in the order of their
    /// codes, beginning with the first that is greater than `after`. The search ends early once
    /// `goes_on`, which is called at least every tenth of a millisecond or so, returns false.
    pub fn search<'t, G: FnMut() -> bool>(
        &'t self,
        site: &'t Site,
        filter: Filter,
        after: Option<&str>,
        now: Timestamp,
        goes_on: G,
    ) -> impl Iterator<Item = Entry<'t>> + use<'t, G> {
        let first = after.map_or(0, |after| self.position_after(site, after));
        Walk {
            order: self,
            site,
            now,
            goes_on,
            before_scan: match filter.is_empty() {
                true => usize::MAX,
                false => site.len() / BEFORE_SCAN,
            },
            filter,
            rest: &self.places[first..],
            candidates: None,
            until_asked: 0,
            chunk: Vec::with_capacity(CHUNK),
        }
    }
}

struct Walk<'t, G> {
    order: &'t CodeOrder,
    site: &'t Site,
    filter: Filter,
    now: Timestamp,
    goes_on: G,
    /// The places of entries that were not checked yet.
    rest: &'t [u32],
    /// How many more are checked before the rest is scanned.
    before_scan: usize,
    /// The places of those that may be selected, once they were scanned.
    candidates: Option<Bits>,
    until_asked: usize,
    /// Places to be visited, the last first.
    chunk: Vec<u32>,
}

impl<'t, G: FnMut() -> bool> Iterator for Walk<'t, G> {
    type Item = Entry<'t>;

    fn next(&mut self) -> Option<Entry<'t>> {
        loop {
            while let Some(place) = self.chunk.pop() {
                let slot = self.order.slot(self.site, place);
                let (filter, now) = (&mut self.filter, self.now);
                if filter.selects(slot.entry, now, |texts| slot.add_codes(texts)) {
                    return Some(slot.entry);
                }
            }
            self.fill()?;
        }
    }
}

impl<G: FnMut() -> bool> Walk<'_, G> {
    /// Takes the next places to be visited; returns `None` if there are none, or if the search ends
    /// early.
    fn fill(&mut self) -> Option<()> {
        if self.before_scan == 0 && self.candidates.is_none() && !self.rest.is_empty() {
            let scan = Scan::new(self.site, self.order, &mut self.goes_on);
            self.candidates = Some(scan.candidates(&self.filter, self.now)?);
        }
        self.until_asked = 0;
        let most = match self.candidates {
            Some(_) => CHUNK,
            None => CHUNK.min(self.before_scan),
        };
        while let [place, rest @ ..] = self.rest
            && self.chunk.len() < most
        {
            if self.until_asked == 0 {
                if !(self.goes_on)() {
                    return None;
                }
                self.until_asked = ASKED;
            }
            self.until_asked -= 1;
            self.rest = rest;
            if self
                .candidates
                .as_ref()
                .is_none_or(|it| it.contains(*place))
            {
                self.chunk.push(*place);
            }
        }
        self.before_scan -= self.chunk.len().min(self.before_scan);
        if self.filter.reads_texts() {
            self.touch();
        }
        self.chunk.reverse();
        (!self.chunk.is_empty()).then_some(())
    }

    /// Prefetches the data of the entries to be visited, by reading a little of it.
    ///
    /// The order of codes has nothing to do with where entries and their texts are in memory.
    /// Reading the same field of many entries in a row takes a fraction of the time, because the
    /// processor waits for several reads at once; so each step reads the data to which the previous
    /// one has led.
    fn touch(&self) {
        let slots = || {
            self.chunk
                .iter()
                .map(|&place| self.order.slot(self.site, place))
        };
        let first = |text: &str| text.as_bytes().first().copied();
        for slot in slots() {
            black_box(slot.entry.written());
        }
        for slot in slots() {
            if self.filter.has_words() {
                black_box(slot.entry.target_parts().map(|it| first(it.parts().1)));
            }
            black_box(slot.entry.all_notes().next().map(|(kind, _)| kind));
        }
        for slot in slots() {
            if self.filter.has_words() {
                black_box(slot.listed().next().map(|(_, text)| first(text)));
            }
            black_box(slot.entry.all_notes().next().map(|(_, text)| first(text)));
        }
    }
}
