//! Slots: entries with their listed codes, in four bytes.
//!
//! An entry finds its listed codes by binary search, which adds up if many entries are visited; a
//! slot leads to both.

use std::borrow::Cow;

use super::filter::Texts;
use crate::mapping::packed::{CodeKind, Entry, Listed, Site};
use crate::mapping::value::code_bytes_of_key;

/// Marks the number of a listed code; the others are numbers of entries. A table cannot have enough
/// text for so many entries.
const LISTED: u32 = 1 << 31;

/// For an entry with listed codes, the number of the first of them; for any other, its own; or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlotNumber(u32);

impl SlotNumber {
    /// The slot of no entry.
    pub(super) const NONE: Self = Self(u32::MAX);

    /// Returns the slot of an entry that has no listed codes.
    pub(super) fn of_entry(number: u32) -> Self {
        Self(number)
    }

    /// Returns the slot of the entry whose first listed code has the given number.
    pub(super) fn of_listed(first: u32) -> Self {
        Self(first | LISTED)
    }

    /// Returns the slot of an entry with listed codes whose numbers moved by a distance, modulo 2^32.
    pub(super) fn listed_moved(self, by: u32) -> Self {
        Self((self.0 & !LISTED).wrapping_add(by) | LISTED)
    }

    /// Returns the number of its entry, if that has no listed codes.
    pub(super) fn entry(self) -> Option<u32> {
        (self.0 & LISTED == 0).then_some(self.0)
    }

    /// Returns the number of its first listed code, if it has one.
    pub(super) fn first_listed(self) -> Option<u32> {
        (self != Self::NONE && self.0 & LISTED != 0).then_some(self.0 & !LISTED)
    }
}

/// An entry and its listed codes.
#[derive(Clone, Copy)]
pub(super) struct Slot<'t> {
    pub(super) entry: Entry<'t>,
    /// The listed codes from its first on; empty if it has none.
    listed: &'t [Listed],
}

impl<'t> Slot<'t> {
    /// Returns a slot of a site, but not [`SlotNumber::NONE`].
    pub(super) fn new(site: &'t Site, number: SlotNumber) -> Self {
        let listed = match number.first_listed() {
            None => &[],
            Some(first) => &site.codes.listed()[first as usize..],
        };
        let number = listed.first().map_or(number.0, |first| first.entry);
        Self {
            entry: site.entry(number),
            listed,
        }
    }

    /// Returns its listed codes: its own, if that is one, and its aliases.
    pub(super) fn listed(&self) -> impl Iterator<Item = (CodeKind, &'t str)> + use<'t> {
        let (number, codes) = (self.entry.number(), &self.entry.site().codes);
        let own = self.listed.iter();
        let own = own.take_while(move |listed| listed.entry == number);
        own.map(|&listed| (listed.kind, codes.text(listed)))
    }

    /// Returns its own code.
    pub(super) fn code(&self) -> Cow<'t, str> {
        if self.entry.shape().is_hashed {
            return self.entry.code();
        }
        let own = self.listed().find(|(kind, _)| *kind != CodeKind::Alias);
        Cow::Borrowed(own.map_or("", |(_, text)| text))
    }

    /// Returns the first eight bytes of its code, as numbers that sort like them.
    pub(super) fn code_start(&self) -> [u32; 2] {
        match self.entry.shape().is_hashed {
            true => numbers(code_bytes_of_key(self.entry.key())),
            false => start_of(&self.code()),
        }
    }

    /// Adds its codes to the texts that are searched.
    pub(super) fn add_codes(&self, texts: &mut Texts<'_>) {
        if self.entry.shape().is_hashed {
            let code = code_bytes_of_key(self.entry.key());
            texts.add(str::from_utf8(&code).expect("base64url is ASCII"));
        }
        self.listed().for_each(|(_, text)| texts.add(text));
    }
}

/// Returns the first eight bytes of a code, as numbers that sort like them.
pub(super) fn start_of(code: &str) -> [u32; 2] {
    let mut start = [0; 8];
    let length = code.len().min(start.len());
    start[..length].copy_from_slice(&code.as_bytes()[..length]);
    numbers(start)
}

fn numbers([a, b, c, d, e, f, g, h]: [u8; 8]) -> [u32; 2] {
    [[a, b, c, d], [e, f, g, h]].map(u32::from_be_bytes)
}
