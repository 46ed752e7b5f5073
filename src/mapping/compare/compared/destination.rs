//! Destinations: everything that a code promises to lead to, the target, those of variants, and where the
//! paths below it lead.
//!
//! A request that names the media type of a variant is promised its target. Requests that name other
//! types are promised nothing more than the entry's own target, so that variants can be added; those of
//! browsers are promised that target.

use std::collections::HashMap;

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

/// Where the codes of an entry lead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Destination<'t> {
    own: Leads<'t>,
    /// Each with the URL to which paths are appended for it, if they are.
    variants: Vec<Variant<'t>>,
}

/// Where a code leads for some requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Leads<'t> {
    target: TargetParts<'t>,
    /// The URL to which paths are appended, if they are.
    below: Option<TargetParts<'t>>,
}

/// A media type for which requests are promised to lead where they do.
struct Promised<'t> {
    accept: &'t str,
    was: Leads<'t>,
    is: Leads<'t>,
}

/// Where a destination led, and another one does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lost<'t> {
    /// The code itself led to a target.
    Target(TargetParts<'t>),
    /// The code itself led to a target for requests that name a media type.
    TargetFor(&'t str, TargetParts<'t>),
    /// The paths below it were appended to a URL.
    Paths(TargetParts<'t>),
    /// The paths below it were appended to a URL for requests that name a media type.
    PathsFor(&'t str, TargetParts<'t>),
}

impl<'t> Destination<'t> {
    /// Returns the destination of an entry; `None` if it has dropped its target.
    pub(crate) fn of(entry: Entry<'t>) -> Option<Self> {
        let with_paths = |it: Variant<'t>| it.with_below(entry.path_target_of(it));
        let target = entry.target_parts()?;
        Some(Self {
            own: Leads {
                target,
                below: entry.path_target(target),
            },
            variants: entry.variants().map(with_paths).collect(),
        })
    }

    /// Returns the destination with a target, the URL to which paths are appended, if they are, and
    /// variants, each with that URL for it.
    pub(crate) fn new(target: &'t str, below: Option<&'t str>, variants: Vec<Variant<'t>>) -> Self {
        Self {
            own: Leads {
                target: TargetParts::of(target),
                below: below.map(TargetParts::of),
            },
            variants,
        }
    }

    /// Returns the destination in a text made by [`to_text`](Self::to_text).
    pub(in crate::mapping::compare) fn of_text(text: &'t str) -> Self {
        let mut lines = text.split('\n');
        let target = lines.next().unwrap_or_default();
        let below = lines.next().filter(|below| !below.is_empty());
        Self::new(target, below, lines.map(Variant::of_note).collect())
    }

    /// Returns it as a text of lines, which no URL contains: the target, the URL for paths, and one for
    /// each variant. A code that leads to its target alone, as most do, has no more than that.
    pub(in crate::mapping::compare) fn to_text(&self) -> String {
        let mut text = self.own.target.to_string();
        if self.own.below.is_some() || !self.variants.is_empty() {
            text.push('\n');
        }
        if let Some(below) = self.own.below {
            text.push_str(&below.to_string());
        }
        for variant in &self.variants {
            text.push('\n');
            text.push_str(&variant.to_string());
        }
        text
    }

    /// Returns whether another destination is the same, except for further variants.
    pub(in crate::mapping::compare) fn is_extended_by(&self, other: &Self) -> bool {
        let is_kept = |it: &Promised<'_>| it.was == it.is;
        self.own == other.own && self.promised(other).iter().all(is_kept)
    }

    /// Returns the first thing that this destination promises and another one does not keep: every
    /// request that names the type of a variant leads to the same, and so does a browser, which names some
    /// types for any link.
    pub(crate) fn lost_in(&self, other: &Self) -> Option<Lost<'t>> {
        if self.own.target != other.own.target {
            return Some(Lost::Target(self.own.target));
        }
        let promised = self.promised(other);
        let paths = || self.own.paths_lost_in(&other.own).map(Lost::Paths);
        target_for_lost(&promised)
            .or_else(paths)
            .or_else(|| paths_for_lost(&promised))
    }

    /// Returns whether every request that names the type of a variant leads to the same target in another
    /// destination, and its paths do.
    pub(in crate::mapping::compare) fn keeps_variants_in(&self, other: &Self) -> bool {
        let promised = self.promised(other);
        target_for_lost(&promised).is_none() && paths_for_lost(&promised).is_none()
    }

    /// Returns whether the paths below a code lead where they did in another destination, for all
    /// requests.
    pub(in crate::mapping::compare) fn keeps_paths_in(&self, other: &Self) -> bool {
        let own = self.own.paths_lost_in(&other.own);
        own.is_none() && paths_for_lost(&self.promised(other)).is_none()
    }

    /// Returns the media types for which requests are promised to lead where they do, given a new
    /// destination.
    fn promised(&self, new: &Self) -> Vec<Promised<'t>> {
        let (was, is) = (self.by_type(), new.by_type());
        let own = self.variants.iter().flat_map(Variant::types);
        let of_browsers = OF_BROWSERS.into_iter().filter(|it| is.contains_key(it));
        let promised = own.chain(of_browsers).map(|accept| Promised {
            accept,
            was: was.get(accept).copied().unwrap_or(self.own),
            is: is.get(accept).copied().unwrap_or(new.own),
        });
        promised.collect()
    }

    /// Returns where a request leads that names just one media type, if there is a variant for it.
    fn by_type(&self) -> HashMap<&'t str, Leads<'t>> {
        let mut by_type = HashMap::new();
        for variant in &self.variants {
            let leads = Leads {
                target: TargetParts::of(variant.target()),
                below: variant.below().map(TargetParts::of),
            };
            for accept in variant.types() {
                by_type.entry(accept).or_insert(leads);
            }
        }
        by_type
    }
}

/// Returns the first target that was lost for a media type.
fn target_for_lost<'t>(promised: &[Promised<'t>]) -> Option<Lost<'t>> {
    let mut lost = promised.iter().filter(|it| it.was.target != it.is.target);
    lost.next()
        .map(|it| Lost::TargetFor(it.accept, it.was.target))
}

/// Returns the first URL for paths that was lost for a media type.
fn paths_for_lost<'t>(promised: &[Promised<'t>]) -> Option<Lost<'t>> {
    promised.iter().find_map(|it| {
        let url = it.was.paths_lost_in(&it.is)?;
        Some(Lost::PathsFor(it.accept, url))
    })
}

impl<'t> Leads<'t> {
    /// Returns the URL to which paths below a code were appended whose target stays, if they lead
    /// elsewhere now.
    ///
    /// Paths that were appended to the target need no longer be: `forward` may be changed.
    fn paths_lost_in(&self, now: &Self) -> Option<TargetParts<'t>> {
        let is_kept = match (self.below, now.below) {
            (None, _) => true,
            (Some(was), Some(is)) => was == is,
            (Some(was), None) => was == self.target,
        };
        self.below.filter(|_| !is_kept)
    }
}
