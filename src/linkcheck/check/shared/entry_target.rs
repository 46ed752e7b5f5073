//! The targets of an entry: its own, those of its variants, and the URLs to which paths are appended.

use super::link_key::LinkKey;
use crate::linkcheck::request::WebUrl;
use crate::mapping::{
    End, Entry, Table, TargetParts, Timestamp, Variant, follow, follow_below, follow_variant,
};

/// What leads to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkRole {
    /// The codes of an entry.
    Own,
    /// A variant of the entry.
    Variant,
    /// Paths below its codes, which are appended.
    Below,
}

/// A target of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryTarget<'t> {
    entry: Entry<'t>,
    parts: TargetParts<'t>,
    source: Source<'t>,
}

/// The part of an entry that has a target.
#[derive(Debug, Clone, Copy)]
enum Source<'t> {
    Own,
    Variant(Variant<'t>),
    Below,
}

impl<'t> EntryTarget<'t> {
    /// Returns all targets of an entry that is in use at a time, its own first.
    pub(super) fn all(entry: Entry<'t>, now: Timestamp) -> impl Iterator<Item = Self> {
        let own = Self::own(entry).filter(|_| !entry.is_gone(now));
        let others = own.is_some().then(|| Self::others(entry));
        own.into_iter().chain(others.into_iter().flatten())
    }

    /// Returns a target by its place among all of an entry.
    pub(super) fn nth(entry: Entry<'t>, place: u16) -> Option<Self> {
        match place.checked_sub(1) {
            None => Self::own(entry),
            Some(place) => Self::others(entry).nth(place.into()),
        }
    }

    fn others(entry: Entry<'t>) -> impl Iterator<Item = Self> {
        let variants = entry.variants().map(move |it| Self {
            entry,
            parts: TargetParts::of(it.target()),
            source: Source::Variant(it),
        });
        let below = entry.variants().filter_map(|it| it.below());
        let below = entry.below().into_iter().chain(below);
        variants.chain(below.map(move |url| Self {
            entry,
            parts: TargetParts::of(url),
            source: Source::Below,
        }))
    }

    fn own(entry: Entry<'t>) -> Option<Self> {
        Some(Self {
            entry,
            parts: entry.target_parts()?,
            source: Source::Own,
        })
    }

    /// Returns the entry.
    pub(super) fn entry(&self) -> Entry<'t> {
        self.entry
    }

    /// Returns the target.
    pub(super) fn parts(&self) -> TargetParts<'t> {
        self.parts
    }

    /// Returns what leads to it.
    pub(super) fn role(&self) -> LinkRole {
        match self.source {
            Source::Own => LinkRole::Own,
            Source::Variant(_) => LinkRole::Variant,
            Source::Below => LinkRole::Below,
        }
    }

    /// Returns whether paths are appended to the target, which is given and then need not work on its own. Home
    /// pages must.
    pub(super) fn is_prefix(&self, target: &str) -> bool {
        let is_appended_to = match self.source {
            Source::Own | Source::Variant(_) => self.entry.forward().path(),
            Source::Below => true,
        };
        is_appended_to && !WebUrl::parse(target).is_ok_and(|url| url.is_home())
    }

    /// Returns the first 64 bits of the SHA-256 of the target.
    pub(super) fn hash(&self) -> u64 {
        match self.source {
            Source::Own => self.entry.target_hash(),
            Source::Variant(variant) => variant.target_hash(),
            Source::Below => LinkKey::of_parts(self.parts.parts()).hash(),
        }
    }

    /// Follows the target at a time; `None` if it does not lead back into the table.
    pub(super) fn follow(&self, table: &Table, now: Timestamp) -> Option<End> {
        match self.source {
            Source::Own => follow(table, self.entry, now),
            Source::Variant(variant) => follow_variant(table, self.entry, variant, now),
            Source::Below => follow_below(table, self.entry, self.parts.to_string(), now),
        }
    }
}
