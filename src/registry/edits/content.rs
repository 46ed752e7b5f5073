//! The content of an entry, separate from its table: to notice changes, and to describe the
//! intended content.

use crate::mapping::{Destination, Entry, Forward, Retired, Status, Timestamp, Variant};

/// The content of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryContent {
    /// Its own code.
    pub code: String,
    /// Its target in canonical form, if it has not dropped it.
    pub target: Option<String>,
    /// The URL to which paths below its codes are appended, in canonical form, if the target is not.
    pub below: Option<String>,
    /// Its aliases.
    pub aliases: Vec<String>,
    /// The title.
    pub title: Option<String>,
    /// The owner.
    pub owner: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The redirect status; `None` is the default of the document, whatever it is.
    pub status: Option<Status>,
    /// Which parts of a request are forwarded; `None` is the default of the document.
    pub forward: Option<Forward>,
    /// How long a redirect may be cached, in seconds; `None` is the default of the document.
    pub cache_max_age: Option<u32>,
    /// The end of its validity.
    pub expires: Option<Timestamp>,
    /// The start of its retirement.
    pub retired: Option<Retired>,
    /// The archived copy of the target.
    pub archive: Option<String>,
    /// The variants, as a table stores them.
    pub variants: Vec<String>,
}

impl EntryContent {
    /// Returns the content of an entry.
    pub fn of(entry: Entry<'_>) -> Self {
        Self {
            code: entry.code().into_owned(),
            target: entry.target().map(|target| target.into_owned()),
            below: entry.below().map(str::to_owned),
            aliases: entry.aliases().map(str::to_owned).collect(),
            title: entry.title().map(str::to_owned),
            owner: entry.owner().map(str::to_owned),
            tags: entry.tags().map(str::to_owned).collect(),
            status: Some(entry.status()),
            forward: Some(entry.forward()),
            cache_max_age: Some(entry.cache_max_age()),
            expires: entry.expires(),
            retired: entry.retired(),
            archive: entry.archive().map(str::to_owned),
            variants: entry.variants().map(|it| it.to_string()).collect(),
        }
    }

    /// Returns all its codes, its own first.
    pub fn codes(&self) -> impl Iterator<Item = &str> {
        [&self.code]
            .into_iter()
            .chain(&self.aliases)
            .map(String::as_str)
    }

    /// Returns where its codes lead, if it has not dropped its target. The default of a document forwards
    /// nothing here.
    pub(super) fn destination(&self) -> Option<Destination<'_>> {
        let (target, below) = (self.target.as_deref()?, self.below.as_deref());
        let forward = self.forward.unwrap_or_default();
        let variants = self.variants.iter().map(|note| {
            let variant = Variant::of_note(note);
            variant.with_below(variant.path_target(forward, below))
        });
        let below = below.or_else(|| forward.path().then_some(target));
        Some(Destination::new(target, below, variants.collect()))
    }

    /// Returns when it expired, if it has at a time.
    pub(crate) fn expired(&self, now: Timestamp) -> Option<Timestamp> {
        self.expires.filter(|time| *time <= now)
    }

    /// Returns whether it is retired at a time.
    pub(super) fn is_retired(&self, now: Timestamp) -> bool {
        match self.retired {
            None => false,
            Some(Retired::Always) => true,
            Some(Retired::From(time)) => time <= now,
        }
    }

    /// Returns whether an entry has this content.
    pub(super) fn is_that_of(&self, entry: Entry<'_>) -> bool {
        let found = Self::of(entry);
        let expected = Self {
            status: self.status.or(found.status),
            forward: self.forward.or(found.forward),
            cache_max_age: self.cache_max_age.or(found.cache_max_age),
            ..self.clone()
        };
        expected == found
    }
}
