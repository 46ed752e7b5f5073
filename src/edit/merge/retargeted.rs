//! Entries without an explicit code that both sides gave another target.
//!
//! Their codes are derived from their targets, so each side has a code that the others do not know:
//! only the place shows that both were one entry.

use std::collections::{HashMap, HashSet};

use super::items::{ItemKey, Items, MergeItem};
use super::sides::Sides;

/// Returns the keys, in each version, of entries that both sides gave another target.
pub(super) fn find<'l>(sides: &'l Sides<Items<'l>>) -> Vec<Sides<&'l ItemKey>> {
    let ours = successors(&sides.base, &sides.ours);
    let theirs = successors(&sides.base, &sides.theirs);
    let mut found: Vec<_> = ours
        .iter()
        .filter_map(|(base, ours)| {
            let theirs = theirs.get(base)?;
            Some(Sides { base, ours, theirs }.map(|key| *key))
        })
        .collect();
    let known = sides.each().map(keys);
    found.retain(|it| !known.theirs.contains(it.ours) && !known.ours.contains(it.theirs));
    found
}

/// Returns the items that replaced removed entries.
fn successors<'l>(
    before: &'l Items<'l>,
    after: &'l Items<'l>,
) -> HashMap<&'l ItemKey, &'l ItemKey> {
    let gone = places(before, &keys(after));
    let new = places(after, &keys(before));
    let successor = |(place, key)| Some((key, *new.get(&place)?));
    gone.into_iter().filter_map(successor).collect()
}

/// Returns the entries that the other side lacks, by the nearest item above that it has, and a
/// number.
fn places<'l>(
    items: &'l Items<'l>,
    other: &HashSet<&ItemKey>,
) -> HashMap<(Option<&'l ItemKey>, usize), &'l ItemKey> {
    let mut places = HashMap::new();
    let (mut above, mut count) = (None, 0);
    for item in &items.list {
        if other.contains(&item.key) {
            (above, count) = (Some(&item.key), 0);
        } else if is_auto(item) {
            places.insert((above, count), &item.key);
            count += 1;
        }
    }
    places
}

fn keys<'l>(items: &'l Items<'l>) -> HashSet<&'l ItemKey> {
    items.list.iter().map(|item| &item.key).collect()
}

/// Returns whether an item is an entry with an auto code.
fn is_auto(item: &MergeItem<'_>) -> bool {
    let names_code = |key: &str| key == "short-code" || key == "number";
    item.entry
        .is_some_and(|entry| !entry.pairs.iter().any(|pair| names_code(&pair.key)))
}
