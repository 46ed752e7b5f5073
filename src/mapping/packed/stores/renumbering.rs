//! The numbers of entries, or of anything that is numbered in order, after some were removed and others
//! added.
//!
//! All numbers between two changes move by the same distance, so a list of the changes is enough. A
//! directory leads to within a few of them.

use super::arena::index;

/// The approximate number of blocks for each change.
const BLOCKS: usize = 4;

/// The new numbers of what was kept.
#[derive(Debug)]
pub(crate) struct Renumbering {
    /// From which old number on, and by which distance numbers move, modulo 2^32.
    steps: Vec<(u32, u32)>,
    /// The last step up to the beginning of each block of old numbers.
    blocks: Vec<u32>,
    /// The length of a block, as a power of two.
    shift: u32,
}

impl Renumbering {
    /// Returns the new numbers of so many things, given the old numbers of those that were removed and
    /// the new numbers of those that were added, both in ascending order.
    pub(crate) fn new(count: usize, removed: &[u32], added: &[u32]) -> Self {
        let mut steps = vec![(0, 0)];
        let mut push = |from: u32, by: u32| match steps.last_mut() {
            Some(last) if last.0 == from => last.1 = by,
            _ => steps.push((from, by)),
        };
        let (mut gone, mut come) = (0, 0);
        loop {
            // Before it are as many kept ones as before the next that was added.
            let next_added = added.get(come).map(|new| new - index(come) + index(gone));
            let next_removed = removed.get(gone).copied();
            if next_added.is_some() && next_added == next_removed {
                // One takes the place of the other.
                (come, gone) = (come + 1, gone + 1);
                continue;
            }
            let from = match (next_added, next_removed) {
                (None, None) => break,
                (Some(added), removed) if removed.is_none_or(|it| added <= it) => {
                    come += 1;
                    added
                }
                (_, removed) => {
                    gone += 1;
                    removed.unwrap_or_default() + 1
                }
            };
            push(from, index(come).wrapping_sub(index(gone)));
        }
        let per_block = count / (BLOCKS * steps.len());
        let shift = per_block.checked_ilog2().unwrap_or(0);
        let mut blocks = Vec::with_capacity((count >> shift) + 1);
        let mut step = 0;
        for block in 0..=index(count) >> shift {
            while (steps.get(step + 1)).is_some_and(|next| next.0 <= block << shift) {
                step += 1;
            }
            blocks.push(index(step));
        }
        Self {
            steps,
            blocks,
            shift,
        }
    }

    /// Returns the new number of something that was kept, given its old one.
    #[inline]
    pub(crate) fn of(&self, old: u32) -> u32 {
        let mut step = self.blocks[(old >> self.shift) as usize] as usize;
        while self.steps.get(step + 1).is_some_and(|next| next.0 <= old) {
            step += 1;
        }
        old.wrapping_add(self.steps[step].1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_kept_is_found_under_its_new_number(
            count in 0..300_u32,
            removed in prop::collection::btree_set(0..300_u32, 0..40),
            added in prop::collection::btree_set(0..340_u32, 0..40),
        ) {
            let removed: Vec<u32> = removed.into_iter().filter(|it| *it < count).collect();
            let kept: Vec<u32> = (0..count).filter(|it| !removed.contains(it)).collect();
            let total = kept.len() + added.len();
            let added: BTreeSet<u32> = added.into_iter().filter(|it| (*it as usize) < total).collect();
            // All that are added are below the new count.
            let total = index(kept.len() + added.len());
            prop_assume!(added.iter().all(|it| *it < total));
            let free = (0..total).filter(|number| !added.contains(number));
            let numbers = Renumbering::new(count as usize, &removed, &Vec::from_iter(added.clone()));
            for (old, new) in kept.into_iter().zip(free) {
                prop_assert_eq!(numbers.of(old), new);
            }
        }
    }
}
