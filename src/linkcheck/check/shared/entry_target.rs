//! The targets of an entry: its own, and those of its variants.

use crate::mapping::{End, Entry, Table, TargetParts, Timestamp, Variant, follow, follow_variant};

/// A target of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryTarget<'t> {
    entry: Entry<'t>,
    parts: TargetParts<'t>,
    /// The variant that has it, unless it is the entry's own.
    variant: Option<Variant<'t>>,
}

impl<'t> EntryTarget<'t> {
    /// Returns all targets of an entry that is in use at a time, its own first.
    pub(super) fn all(entry: Entry<'t>, now: Timestamp) -> impl Iterator<Item = Self> {
        let own = Self::own(entry).filter(|_| !entry.is_gone(now));
        let variants = own.is_some().then(|| entry.variants());
        let variants = variants.into_iter().flatten();
        own.into_iter()
            .chain(variants.map(move |it| Self::of(entry, it)))
    }

    /// Returns a target by its place among all of an entry.
    pub(super) fn nth(entry: Entry<'t>, place: u16) -> Option<Self> {
        match place.checked_sub(1) {
            None => Self::own(entry),
            Some(place) => {
                let variant = entry.variants().nth(place.into())?;
                Some(Self::of(entry, variant))
            }
        }
    }

    fn own(entry: Entry<'t>) -> Option<Self> {
        Some(Self {
            entry,
            parts: entry.target_parts()?,
            variant: None,
        })
    }

    fn of(entry: Entry<'t>, variant: Variant<'t>) -> Self {
        Self {
            entry,
            parts: TargetParts::of(variant.target()),
            variant: Some(variant),
        }
    }

    /// Returns the entry.
    pub(super) fn entry(&self) -> Entry<'t> {
        self.entry
    }

    /// Returns the target.
    pub(super) fn parts(&self) -> TargetParts<'t> {
        self.parts
    }

    /// Returns the variant that has it, unless it is the entry's own.
    pub(super) fn variant(&self) -> Option<Variant<'t>> {
        self.variant
    }

    /// Returns the first 64 bits of the SHA-256 of the target.
    pub(super) fn hash(&self) -> u64 {
        match self.variant {
            Some(variant) => variant.target_hash(),
            None => self.entry.target_hash(),
        }
    }

    /// Follows the target at a time; `None` if it does not lead back into the table.
    pub(super) fn follow(&self, table: &Table, now: Timestamp) -> Option<End> {
        match self.variant {
            Some(variant) => follow_variant(table, self.entry, variant, now),
            None => follow(table, self.entry, now),
        }
    }
}
