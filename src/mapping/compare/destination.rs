//! Destinations: everything that a code promises to lead to, the target, those of variants, and where the
//! paths below it lead.
//!
//! A request that names the media type of a variant is promised its target. Requests that name other
//! types are promised nothing more than the entry's own target, so that variants can be added; those of
//! browsers are promised that target.

use crate::mapping::packed::{Entry, TargetParts, Variant};

/// The media types that browsers name when they open a page (their `Accept` as of 2026), with a quality
/// that is not below that of `text/html`.
const OF_BROWSERS: [&str; 5] = [
    "text/html",
    "application/xhtml+xml",
    "image/avif",
    "image/webp",
    "image/apng",
];

/// The targets of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Destination<'t> {
    target: TargetParts<'t>,
    /// The URL to which paths are appended, if they are.
    below: Option<TargetParts<'t>>,
    variants: Vec<Variant<'t>>,
}

impl<'t> Destination<'t> {
    /// Returns the destination of an entry; `None` if it has dropped its target.
    pub(crate) fn of(entry: Entry<'t>) -> Option<Self> {
        Some(Self {
            target: entry.target_parts()?,
            below: entry.path_target(),
            variants: entry.variants().collect(),
        })
    }

    /// Returns the destination in a text made by [`to_text`](Self::to_text).
    pub(super) fn of_text(text: &'t str) -> Self {
        let mut lines = text.split('\n');
        let target = lines.next().unwrap_or_default();
        let below = lines.next().filter(|below| !below.is_empty());
        Self {
            target: TargetParts::of(target),
            below: below.map(TargetParts::of),
            variants: lines.map(Variant::of_note).collect(),
        }
    }

    /// Returns it as a text of lines, which no URL contains: the target, the URL for paths, and one for
    /// each variant. A code that leads to its target alone, as most do, has no more than that.
    pub(super) fn to_text(&self) -> String {
        let mut text = self.target.to_string();
        if self.below.is_some() || !self.variants.is_empty() {
            text.push('\n');
        }
        if let Some(below) = self.below {
            text.push_str(&below.to_string());
        }
        for variant in &self.variants {
            text.push('\n');
            text.push_str(&variant.to_string());
        }
        text
    }

    /// Returns whether it has the target of another destination.
    pub(super) fn has_target_of(&self, other: &Self) -> bool {
        self.target == other.target
    }

    /// Returns whether the paths below a code whose target stays lead where they did in another
    /// destination, if they led anywhere.
    pub(super) fn keeps_paths_in(&self, other: &Self) -> bool {
        keeps_paths(Some(self.target), self.below, other.below)
    }

    /// Returns whether another destination is the same, except for further variants.
    pub(super) fn is_extended_by(&self, other: &Self) -> bool {
        (self.target, self.below) == (other.target, other.below) && self.keeps_variants_in(other)
    }

    /// Returns whether every request that names the type of a variant leads to the same in another
    /// destination, and so does a browser, which names some types for any link.
    pub(super) fn keeps_variants_in(&self, other: &Self) -> bool {
        let own = self.variants.iter().flat_map(Variant::types);
        let new = |accept: &&str| other.variant_for(accept).is_some();
        own.chain(OF_BROWSERS.into_iter().filter(new))
            .all(|accept| other.target_for(accept) == self.target_for(accept))
    }

    /// Returns where a request leads that names just one media type.
    fn target_for(&self, accept: &str) -> TargetParts<'t> {
        self.variant_for(accept).unwrap_or(self.target)
    }

    /// Returns the target of the variant for a media type.
    fn variant_for(&self, accept: &str) -> Option<TargetParts<'t>> {
        let mut variants = self.variants.iter();
        let variant = variants.find(|it| it.types().any(|own| own == accept))?;
        Some(TargetParts::of(variant.target()))
    }
}

/// Returns whether paths below a code whose target stays lead where they did, if they led anywhere, given
/// the URLs to which they were and are appended.
///
/// Paths that were appended to the target need no longer be: `forward` may be changed.
pub(crate) fn keeps_paths<U: PartialEq>(target: Option<U>, was: Option<U>, is: Option<U>) -> bool {
    match (was, is) {
        (None, _) => true,
        (Some(was), Some(is)) => was == is,
        (was, None) => was == target,
    }
}
