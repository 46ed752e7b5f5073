//! Changes: single differences between two tables, as users of a code see them.
//!
//! A change concerns a code, not a line: the place of an entry is not part of its meaning. `diff`
//! matches the entries.

use std::borrow::Cow;
use std::fmt;

use crate::mapping::compare::compared::Destination;
use crate::mapping::packed::{Entry, Site, Variant};
use crate::mapping::value::{Place, Retired};

/// A single difference between two tables.
#[derive(Debug, Clone)]
pub struct Change<'t> {
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The code that it concerns.
    pub code: Cow<'t, str>,
    /// The entry that the code led to; `None` for a new code.
    pub old: Option<Entry<'t>>,
    /// The entry that the code leads to now, or that has its target under another code; `None` for
    /// one that is gone.
    pub new: Option<Entry<'t>>,
    /// Whether the entry that the code led to was taken down: it has dropped its target, which no
    /// output names any more.
    pub is_takedown: bool,
}

/// The kinds of changes, the most serious first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// A code is gone together with its entry.
    Removed,
    /// An alias of an entry that still exists is gone.
    AliasLost,
    /// A code is gone, and another one leads to its target.
    Renamed,
    /// A code leads to another target.
    Retargeted,
    /// A variant of an entry is gone, or leads elsewhere.
    VariantsRetargeted,
    /// Paths below a code lead elsewhere, or nowhere.
    BelowRetargeted,
    /// A retired code leads somewhere again.
    Unretired,
    /// A code is, or will be, retired.
    Retired,
    /// The start of a code's retirement.
    Retirement,
    /// The end of a code's validity.
    Expiry,
    /// The URL to which paths below the code lead; all that led anywhere still lead there.
    Below,
    /// The parts of a request that are forwarded to the target.
    Forward,
    /// The redirect status.
    Status,
    /// A code of a new entry.
    Added,
    /// A new alias of an existing entry.
    AliasGained,
    /// The time for which a redirect may be cached.
    CacheMaxAge,
    /// A retired entry has dropped its target.
    TargetDropped,
    /// The title.
    Title,
    /// The person or team responsible for it.
    Owner,
    /// The tags, in any order.
    Tags,
    /// The archived copy of the target.
    Archive,
    /// Variants, each of which still leads where it did: some are new, or their order has changed.
    Variants,
}

impl ChangeKind {
    /// Every kind, the most serious first.
    pub const ALL: [Self; 22] = [
        Self::Removed,
        Self::AliasLost,
        Self::Renamed,
        Self::Retargeted,
        Self::VariantsRetargeted,
        Self::BelowRetargeted,
        Self::Unretired,
        Self::Retired,
        Self::Retirement,
        Self::Expiry,
        Self::Below,
        Self::Forward,
        Self::Status,
        Self::Added,
        Self::AliasGained,
        Self::CacheMaxAge,
        Self::TargetDropped,
        Self::Title,
        Self::Owner,
        Self::Tags,
        Self::Archive,
        Self::Variants,
    ];

    /// Returns its name in messages and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::AliasLost => "alias-lost",
            Self::Renamed => "renamed",
            Self::Retargeted => "retargeted",
            Self::VariantsRetargeted => "variants-retargeted",
            Self::BelowRetargeted => "below-retargeted",
            Self::Unretired => "un-retired",
            Self::Retired => "retired",
            Self::Retirement => "retirement-changed",
            Self::Expiry => "expiry-changed",
            Self::Below => "below-changed",
            Self::Forward => "forward-changed",
            Self::Status => "status-changed",
            Self::Added => "added",
            Self::AliasGained => "alias-gained",
            Self::CacheMaxAge => "cache-max-age-changed",
            Self::TargetDropped => "target-dropped",
            Self::Title => "title-changed",
            Self::Owner => "owner-changed",
            Self::Tags => "tags-changed",
            Self::Archive => "archive-changed",
            Self::Variants => "variants-changed",
        }
    }

    /// Returns whether a published link is broken: anyone who follows the code gets nothing, or
    /// something else.
    pub fn breaks_a_link(self) -> bool {
        self <= Self::BelowRetargeted
    }

    /// Returns the value of an entry that the change concerns.
    fn value(self, entry: Entry<'_>) -> Option<String> {
        let text = |text: Option<&str>| text.map(str::to_owned);
        match self {
            Self::Removed
            | Self::AliasLost
            | Self::Retargeted
            | Self::Added
            | Self::AliasGained
            | Self::TargetDropped => entry.target().map(Cow::into_owned),
            Self::Renamed => Some(entry.code().into_owned()),
            Self::Unretired | Self::Retired | Self::Retirement => match entry.term().retired {
                None => entry.target().map(Cow::into_owned),
                Some(Retired::Always) => Some("retired".to_owned()),
                Some(Retired::From(time)) => Some(format!("retired from {time}")),
            },
            Self::Expiry => entry.term().expires.map(|time| time.to_string()),
            Self::BelowRetargeted | Self::Below => text(entry.below()),
            Self::Forward => Some(entry.forward().name().to_owned()),
            Self::Status => Some(entry.status().code().to_string()),
            Self::CacheMaxAge => Some(entry.cache_max_age().to_string()),
            Self::Title => text(entry.title()),
            Self::Owner => text(entry.owner()),
            Self::Tags => {
                let tags = tags(entry);
                (!tags.is_empty()).then(|| tags.join(", "))
            }
            Self::Archive => text(entry.archive()),
            Self::VariantsRetargeted | Self::Variants => variants(entry),
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<'t> Change<'t> {
    /// Returns the old value: a target, a code, a status, or another property; none if it is
    /// [concealed](Self::conceals_before).
    pub fn before(&self) -> Option<String> {
        let shown = self.old.filter(|_| !self.conceals_before());
        shown.and_then(|entry| self.kind.value(entry))
    }

    /// Returns whether there was a value that may name the target of an entry that was taken down.
    pub fn conceals_before(&self) -> bool {
        use ChangeKind::*;
        let names_target = matches!(
            self.kind,
            Removed
                | AliasLost
                | Retargeted
                | VariantsRetargeted
                | BelowRetargeted
                | Retired
                | Below
                | TargetDropped
                | Title
                | Archive
                | Variants
        );
        self.is_takedown && names_target
    }

    /// Returns the new value.
    pub fn after(&self) -> Option<String> {
        self.new.and_then(|entry| self.kind.value(entry))
    }

    /// Returns the short link of its code.
    pub fn short_url(&self) -> String {
        let site = self.entry().map(|entry| entry.site());
        site.map_or_else(String::new, |site: &Site| site.short_url(&self.code))
    }

    /// Returns the relevant place: in the new table, or in the old one for something that is gone.
    pub fn place(&self) -> Option<Place> {
        self.entry().map(|entry| entry.place())
    }

    fn entry(&self) -> Option<Entry<'t>> {
        self.new.or(self.old)
    }
}

/// Returns the differences between an old entry and a new one, except for their codes.
pub(super) fn differences(old: Entry<'_>, new: Entry<'_>) -> impl Iterator<Item = ChangeKind> {
    use ChangeKind::*;
    let (was, is) = (old.term(), new.term());
    let (was_retired, is_retired) = (was.retired.is_some(), is.retired.is_some());
    let drops_target = old.has_target() && !new.has_target();
    // Retiring an entry and dropping its target is one change, and so is undoing both.
    let returns = !old.has_target() && !is_retired;
    let both = Destination::of(old).zip(Destination::of(new));
    let both = both.as_ref();
    let new_variants = both.filter(|_| !old.variants().eq(new.variants()));
    let keeps_variants = new_variants.map(|(was, is)| was.keeps_variants_in(is));
    let new_below = both.filter(|_| old.below() != new.below());
    let keeps_below = new_below.map(|(was, is)| was.keeps_paths_in(is));
    let differs = [
        (
            Retargeted,
            old.target_parts() != new.target_parts() && !drops_target && !returns,
        ),
        (VariantsRetargeted, keeps_variants == Some(false)),
        (BelowRetargeted, keeps_below == Some(false)),
        (Unretired, was_retired && !is_retired),
        (Retired, !was_retired && is_retired),
        (
            Retirement,
            was_retired && is_retired && was.retired != is.retired,
        ),
        (Expiry, was.expires != is.expires),
        (Below, keeps_below == Some(true)),
        (Forward, old.forward() != new.forward()),
        (Status, old.status() != new.status()),
        (CacheMaxAge, old.cache_max_age() != new.cache_max_age()),
        (TargetDropped, drops_target && was_retired),
        (Title, old.title() != new.title()),
        (Owner, old.owner() != new.owner()),
        (Tags, tags(old) != tags(new)),
        (Archive, old.archive() != new.archive()),
        (Variants, keeps_variants == Some(true)),
    ];
    let differs = differs.into_iter().filter(|(_, differs)| *differs);
    differs.map(|(kind, _)| kind)
}

/// Returns the variants of an entry in a line.
fn variants(entry: Entry<'_>) -> Option<String> {
    let shown = |it: Variant<'_>| {
        let below = it.below().map(|below| format!(", below: {below}"));
        let (types, target) = (it.type_list(), it.target());
        format!("{types}: {target}{}", below.unwrap_or_default())
    };
    let all: Vec<_> = entry.variants().map(shown).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn tags(entry: Entry<'_>) -> Vec<&str> {
    let mut tags: Vec<_> = entry.tags().collect();
    tags.sort_unstable();
    tags
}
