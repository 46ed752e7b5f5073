//! The order of the items of both sides.
//!
//! It is the order of ours, unless only theirs moved existing items. New items of the other side
//! follow the same item as there, but do not go into a section that is new too. Invariant: every
//! item of either side is in it once.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::sides::Sides;

/// The order of all items of either side.
pub(super) struct KeyOrder<K> {
    pub(super) keys: Vec<K>,
    /// Whether it is the order of theirs.
    pub(super) is_theirs: bool,
    /// Whether a side moved existing items.
    pub(super) has_moved: bool,
}

/// Returns the order of the items of either side, some of which head a section.
pub(super) fn order<K: Eq + Hash + Copy>(
    sides: &Sides<Vec<K>>,
    is_heading: fn(K) -> bool,
) -> KeyOrder<K> {
    let have_moved = [&sides.ours, &sides.theirs].map(|side| moved(&sides.base, side));
    let is_theirs = have_moved == [false, true];
    let (first, second) = sides.each().led_by(is_theirs);
    let (in_base, in_first, in_second) = (set(&sides.base), set(first), set(second));
    // Items that only the second side has, by the item that they follow there.
    let mut after: HashMap<Option<K>, Vec<K>> = HashMap::new();
    let mut last = None;
    for &key in second {
        if in_first.contains(&key) {
            last = Some(key);
        } else {
            after.entry(last).or_default().push(key);
        }
    }
    let mut keys = Vec::with_capacity(first.len() + second.len());
    let mut waiting = after.remove(&None).unwrap_or_default();
    for &key in first {
        // Of new items in one place, ours come first.
        let is_ours_and_new = !is_theirs && !in_base.contains(&key) && !in_second.contains(&key);
        let go_first = if !is_ours_and_new {
            waiting.len()
        } else if is_heading(key) {
            let heading = waiting.iter().position(|&key| is_heading(key));
            heading.unwrap_or(waiting.len())
        } else {
            0
        };
        keys.extend(waiting.drain(..go_first));
        keys.push(key);
        waiting.extend(after.remove(&Some(key)).unwrap_or_default());
    }
    keys.append(&mut waiting);
    KeyOrder {
        keys,
        is_theirs,
        has_moved: have_moved != [false; 2],
    }
}

/// Returns whether the items that are in both have a different order.
fn moved<K: Eq + Hash + Copy>(before: &[K], after: &[K]) -> bool {
    let (in_before, in_after) = (set(before), set(after));
    let before = before.iter().filter(|key| in_after.contains(key));
    let after = after.iter().filter(|key| in_before.contains(key));
    before.ne(after)
}

fn set<K: Eq + Hash + Copy>(keys: &[K]) -> HashSet<K> {
    keys.iter().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(base: &str, ours: &str, theirs: &str) -> String {
        let sides = Sides { base, ours, theirs };
        order(&sides.map(|it| it.chars().collect()), |key| {
            key.is_uppercase()
        })
        .keys
        .iter()
        .collect()
    }

    #[test]
    fn new_items_follow_what_they_followed() {
        for (base, ours, theirs, expected) in [
            // Both append.
            ("ab", "abx", "aby", "abxy"),
            ("", "x", "y", "xy"),
            ("ab", "xab", "yab", "xyab"),
            ("ab", "abxz", "abyx", "abyxz"),
            // Both add a section, or one does.
            ("a", "aXx", "aYy", "aXxYy"),
            ("a", "aXx", "ayYz", "ayXxYz"),
            ("a", "ax", "aYy", "axYy"),
            // An item that one side removed still marks the place.
            ("abc", "ac", "abyc", "abyc"),
            // One side sorts.
            ("cab", "abc", "cayb", "aybc"),
            ("cab", "caxb", "abc", "axbc"),
            ("cab", "abc", "bac", "abc"),
        ] {
            assert_eq!(
                ordered(base, ours, theirs),
                expected,
                "{base} {ours} {theirs}"
            );
        }
    }
}
