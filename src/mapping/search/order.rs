//! The order of codes: four bytes an entry, by which a site is listed from any code on.
//!
//! An entry is listed once, at its own code; its aliases are searched there too. The order is that
//! of the bytes of codes, which is also that of their characters.

use std::borrow::Cow;
use std::hint::black_box;

use super::filter::{Filter, Texts};
use crate::mapping::packed::{CodeKind, Entry, Listed, Site, index};
use crate::mapping::value::{Timestamp, code_bytes_of_key};

/// Marks the number of a listed code; the others are numbers of entries. A site with as many entries
/// would have more text than a table can.
const LISTED: u32 = 1 << 31;

/// How many entries are visited together: their texts fit into the first caches of a processor.
const CHUNK: usize = 64;

/// How many chunks are visited before it is asked again whether the search goes on.
const ASKED: usize = 64;

/// The entries of a site, in the order of their codes.
#[derive(Debug, Default)]
pub struct CodeOrder {
    /// For an entry with listed codes, the first of them; for any other, its number.
    slots: Vec<u32>,
}

impl CodeOrder {
    /// Sorts the entries of a site. Meanwhile, this takes twelve bytes an entry.
    pub fn new(site: &Site) -> Self {
        let mut sorted = Vec::with_capacity(site.len());
        let mut push = |number| {
            let [high, low] = Slot::new(site, number).start();
            sorted.push((high, low, number));
        };
        let numbers = 0..index(site.len());
        numbers
            .filter(|&number| !site.entry(number).shape().has_codes)
            .for_each(&mut push);
        let mut last = None;
        for (at, listed) in (0..).zip(site.codes.listed()) {
            if last.replace(listed.entry) != Some(listed.entry) {
                push(LISTED | at);
            }
        }
        let code = |number| Slot::new(site, number).code();
        sorted.sort_unstable_by(|a, b| {
            let starts = (a.0, a.1).cmp(&(b.0, b.1));
            starts.then_with(|| code(a.2).cmp(&code(b.2)))
        });
        // It is collected in place.
        let mut slots: Vec<u32> = sorted.into_iter().map(|(_, _, number)| number).collect();
        slots.shrink_to_fit();
        Self { slots }
    }

    /// Returns the entries of its site that a filter selects at the given time, in the order of their
    /// codes, beginning with the first that is greater than `after`. The search ends early once
    /// `goes_on`, which is called at least every few milliseconds, returns false.
    pub fn search<'t, G: FnMut() -> bool>(
        &'t self,
        site: &'t Site,
        mut filter: Filter,
        after: Option<&str>,
        now: Timestamp,
        mut goes_on: G,
    ) -> impl Iterator<Item = Entry<'t>> + use<'t, G> {
        let first = after.map_or(0, |after| self.position_after(site, after));
        let reads = filter.reads_texts();
        let mut chunks = self.slots[first..].chunks(CHUNK).enumerate();
        let mut chunk = [].iter();
        std::iter::from_fn(move || {
            loop {
                for &slot in chunk.by_ref() {
                    let slot = Slot::new(site, slot);
                    let entry = slot.entry;
                    if filter.selects(entry, now, |texts| slot.add_codes(texts)) {
                        return Some(entry);
                    }
                }
                let (number, next) = chunks.next()?;
                if number % ASKED == 0 && !goes_on() {
                    return None;
                }
                if reads {
                    touch(site, next);
                }
                chunk = next.iter();
            }
        })
    }

    /// Returns how many entries of its site have a code up to the given one.
    pub fn position_after(&self, site: &Site, code: &str) -> usize {
        let is_before = |&slot: &u32| *Slot::new(site, slot).code() <= *code;
        self.slots.partition_point(is_before)
    }

    /// Returns the memory in use, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
    }
}

/// Reads a little of what entries are searched by, and does nothing with it.
///
/// The order of codes has nothing to do with where entries and their texts are in memory. Reading the
/// same of many entries one right after another takes a fraction of the time, because the processor
/// waits for several at once; so each step reads what the one before has led to.
fn touch(site: &Site, slots: &[u32]) {
    let slots = || slots.iter().map(|&slot| Slot::new(site, slot));
    let first = |text: &str| text.as_bytes().first().copied();
    for slot in slots() {
        black_box(slot.entry.written());
    }
    for slot in slots() {
        black_box(slot.entry.target_parts().map(|(_, rest)| first(rest)));
        black_box(slot.entry.all_notes().next().map(|(kind, _)| kind));
    }
    for slot in slots() {
        black_box(slot.listed().next().map(|(_, text)| first(text)));
        black_box(slot.entry.all_notes().next().map(|(_, text)| first(text)));
    }
}

/// An entry and its listed codes.
#[derive(Clone, Copy)]
struct Slot<'t> {
    entry: Entry<'t>,
    /// The listed codes from its first on; empty if it has none.
    listed: &'t [Listed],
}

impl<'t> Slot<'t> {
    fn new(site: &'t Site, number: u32) -> Self {
        let listed = match number & LISTED {
            0 => &[],
            _ => &site.codes.listed()[(number ^ LISTED) as usize..],
        };
        let number = listed.first().map_or(number, |first| first.entry);
        Self {
            entry: site.entry(number),
            listed,
        }
    }

    /// Returns its listed codes: its own, if that is one, and its aliases.
    fn listed(&self) -> impl Iterator<Item = (CodeKind, &'t str)> + use<'t> {
        let (number, codes) = (self.entry.number(), &self.entry.site().codes);
        let own = self.listed.iter();
        let own = own.take_while(move |listed| listed.entry == number);
        own.map(|&listed| (listed.kind, codes.text(listed)))
    }

    /// Returns its own code.
    fn code(&self) -> Cow<'t, str> {
        if self.entry.shape().is_hashed {
            return self.entry.code();
        }
        let own = self.listed().find(|(kind, _)| *kind != CodeKind::Alias);
        Cow::Borrowed(own.map_or("", |(_, text)| text))
    }

    /// Returns the first eight bytes of its code, as numbers that sort like them.
    fn start(&self) -> [u32; 2] {
        let mut start = [0; 8];
        if self.entry.shape().is_hashed {
            start = code_bytes_of_key(self.entry.key());
        } else {
            let code = self.code();
            let length = code.len().min(start.len());
            start[..length].copy_from_slice(&code.as_bytes()[..length]);
        }
        let [a, b, c, d, e, f, g, h] = start;
        [[a, b, c, d], [e, f, g, h]].map(u32::from_be_bytes)
    }

    /// Adds its codes to the texts that are searched.
    fn add_codes(&self, texts: &mut Texts<'_>) {
        if self.entry.shape().is_hashed {
            let code = code_bytes_of_key(self.entry.key());
            texts.add(str::from_utf8(&code).expect("base64url is ASCII"));
        }
        self.listed().for_each(|(_, text)| texts.add(text));
    }
}
