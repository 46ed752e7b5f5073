//! Content negotiation: the variant of an entry that a request prefers (RFC 9110 section 12.5.1).
//!
//! Only types that the request names choose a variant: every client that accepts anything, as
//! browsers and most programs do, is led to the entry's own URL. So is one that prefers `text/html`.

use std::fmt;

use crate::mapping::packed::{Entry, OwnedVariant, Variant};
use crate::mapping::value::{Weight, weighted_members};

/// The `Accept` fields of a request. They are only read for an entry with variants.
pub trait AcceptFields: fmt::Debug + Sync {
    /// Calls a function with the value of each field, in the order of the request.
    fn for_each(&self, read: &mut dyn FnMut(&[u8]));
}

/// A single field.
impl AcceptFields for &str {
    fn for_each(&self, read: &mut dyn FnMut(&[u8])) {
        read(self.as_bytes());
    }
}

/// Returns the variant of an entry that a request prefers to the entry's own URL, if there is one.
pub(super) fn preferred<'t>(
    entry: Entry<'t>,
    accept: Option<&dyn AcceptFields>,
) -> Option<Variant<'t>> {
    let names = |variant: &Variant<'_>, range: &str| {
        let mut types = variant.types();
        types.any(|it| it.eq_ignore_ascii_case(range))
    };
    preferred_of(entry.variants(), names, accept?)
}

/// Returns the variant that a request prefers of those that an entry would have, if it prefers one to the
/// entry's own URL.
pub(crate) fn preferred_variant<'v>(
    variants: &'v [OwnedVariant],
    accept: &dyn AcceptFields,
) -> Option<&'v OwnedVariant> {
    let names = |variant: &&OwnedVariant, range: &str| {
        let mut types = variant.types.iter();
        types.any(|it| it.as_str().eq_ignore_ascii_case(range))
    };
    preferred_of(variants.iter(), names, accept)
}

/// Returns the first of the variants whose types have the highest weight among the types that the request
/// names, if that is not below the weight of `text/html`.
fn preferred_of<V>(
    variants: impl Iterator<Item = V>,
    names: impl Fn(&V, &str) -> bool,
    accept: &dyn AcceptFields,
) -> Option<V> {
    let mut weights: Vec<(V, Weight)> = variants.map(|it| (it, 0)).collect();
    let mut html = PageWeight::default();
    accept.for_each(&mut |field| {
        for (range, weight) in weighted_members(field) {
            html.add(range, weight);
            for (variant, best) in &mut weights {
                if names(variant, range) {
                    *best = weight.max(*best);
                }
            }
        }
    });
    let least = html.weight().max(1);
    let mut chosen: Option<(V, Weight)> = None;
    for (variant, weight) in weights {
        if weight >= least && chosen.as_ref().is_none_or(|(_, best)| weight > *best) {
            chosen = Some((variant, weight));
        }
    }
    chosen.map(|(variant, _)| variant)
}

/// The weight that a request gives to pages: that of the most specific range.
#[derive(Default)]
struct PageWeight([Option<Weight>; 3]);

impl PageWeight {
    fn add(&mut self, range: &str, weight: Weight) {
        let ranges = ["text/html", "text/*", "*/*"];
        let place = ranges.iter().position(|it| it.eq_ignore_ascii_case(range));
        if let Some(place) = place {
            self.0[place] = self.0[place].max(Some(weight));
        }
    }

    fn weight(&self) -> Weight {
        self.0.iter().flatten().next().copied().unwrap_or(0)
    }
}
