//! The new places of what was kept from one version of a site to the next: what stays next to each other
//! moves together.
//!
//! Every entry of a table is looked up, in no order of its place, so most are answered by a directory
//! over equal parts of the places, without a search whose steps a processor cannot predict.

use std::ops::Range;

/// The approximate number of parts, as a power of two: few enough for the nearest cache.
const PARTS_BITS: u32 = 11;

/// Ranges of places that were kept, in ascending order.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// With the distances by which they move, modulo 2^32.
    ranges: Vec<(Range<u32>, u32)>,
    /// The distance of each part that is in one range.
    parts: Vec<Option<u32>>,
    /// The length of a part, as a power of two.
    shift: u32,
}

impl Kept {
    /// Begins with nothing, given the end of all places.
    pub(crate) fn new(end: u32) -> Self {
        let bits = u32::BITS - end.leading_zeros();
        let shift = bits.saturating_sub(PARTS_BITS);
        Self {
            ranges: Vec::new(),
            parts: vec![None; (end >> shift) as usize + 1],
            shift,
        }
    }

    /// Adds places after all others, given the first of their new ones.
    pub(crate) fn push(&mut self, old: Range<u32>, new: u32) {
        let by = new.wrapping_sub(old.start);
        let part = 1 << self.shift;
        let (first, end) = (old.start.div_ceil(part), old.end / part);
        if first < end {
            self.parts[first as usize..end as usize].fill(Some(by));
        }
        self.ranges.push((old, by));
    }

    /// Returns the new place of what was at an old one, if it was kept.
    #[inline]
    pub(crate) fn of(&self, old: u32) -> Option<u32> {
        let by = match self.parts[(old >> self.shift) as usize] {
            None => self.searched(old)?,
            Some(by) => by,
        };
        Some(old.wrapping_add(by))
    }

    /// Returns the old place of what is at a new one, if it was kept.
    pub(super) fn before(&self, new: u32) -> Option<u32> {
        let is_up_to = |(range, by): &(Range<u32>, u32)| range.start.wrapping_add(*by) <= new;
        let after = self.ranges.partition_point(is_up_to);
        let (range, by) = self.ranges.get(after.checked_sub(1)?)?;
        let old = new.wrapping_sub(*by);
        range.contains(&old).then_some(old)
    }

    /// Returns the places after another change, too.
    pub(super) fn then(&self, next: &Self) -> Self {
        let mut both = Self {
            ranges: Vec::with_capacity(self.ranges.len() + next.ranges.len()),
            parts: vec![None; self.parts.len()],
            shift: self.shift,
        };
        let mut first = 0;
        for (range, by) in &self.ranges {
            let moved = range.start.wrapping_add(*by)..range.end.wrapping_add(*by);
            while (next.ranges.get(first)).is_some_and(|(other, _)| other.end <= moved.start) {
                first += 1;
            }
            let others = next.ranges[first..].iter();
            for (other, further) in others.take_while(|(other, _)| other.start < moved.end) {
                let (start, end) = (moved.start.max(other.start), moved.end.min(other.end));
                if start < end {
                    let old = start.wrapping_sub(*by)..end.wrapping_sub(*by);
                    both.push(old, start.wrapping_add(*further));
                }
            }
        }
        both
    }

    /// Returns whether others keep all that these keep.
    pub(super) fn is_within(&self, others: &Self) -> bool {
        self.ranges.iter().all(|(range, _)| {
            let next = |(other, _): &(Range<u32>, u32)| other.end < range.end;
            let around = others.ranges.get(others.ranges.partition_point(next));
            range.is_empty() || around.is_some_and(|(other, _)| other.start <= range.start)
        })
    }

    /// Returns the number of ranges.
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.ranges.capacity() * size_of::<(Range<u32>, u32)>()
            + self.parts.capacity() * size_of::<Option<u32>>()
    }

    #[cold]
    fn searched(&self, old: u32) -> Option<u32> {
        let after = self.ranges.partition_point(|(range, _)| range.start <= old);
        let (range, by) = self.ranges.get(after.checked_sub(1)?)?;
        range.contains(&old).then_some(*by)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The end of the places that are moved at random.
    const END: u32 = 60;

    /// Returns places of which some were kept, given the length of each range, of the gap before it, and of
    /// what is added before it.
    fn places(ranges: &[(u32, u32, u32)]) -> Kept {
        let mut kept = Kept::new(END);
        let (mut old, mut new) = (0, 0);
        for (length, gap, added) in ranges {
            let start = old + gap;
            if start + length > END || new + added + length > END {
                break;
            }
            kept.push(start..start + length, new + added);
            (old, new) = (start + length, new + added + length);
        }
        kept
    }

    proptest! {
        #[test]
        fn two_changes_are_as_one(
            first in vec((1..9_u32, 0..3_u32, 0..3_u32), 0..20),
            second in vec((1..9_u32, 0..3_u32, 0..3_u32), 0..20),
        ) {
            let (first, second) = (places(&first), places(&second));
            let both = first.then(&second);
            for old in 0..=END {
                let now = first.of(old).and_then(|between| second.of(between));
                prop_assert_eq!(both.of(old), now);
                if let Some(now) = now {
                    prop_assert_eq!(both.before(now), Some(old));
                }
            }
            for now in (0..=END).filter(|now| both.before(*now).is_some()) {
                prop_assert_eq!(both.of(both.before(now).unwrap()), Some(now));
            }
            prop_assert!(both.is_within(&first));
            if first.is_within(&both) {
                prop_assert!((0..=END).all(|old| first.of(old).is_some() == both.of(old).is_some()));
            }
        }
    }

    #[test]
    fn each_kept_place_moves_with_its_range() {
        for end in [0, 1, 40, 100_000, u32::MAX] {
            let at = |hundredth: u32| end / 100 * hundredth;
            let mut kept = Kept::new(end);
            let ranges = [at(0)..at(1), at(3)..at(40), at(40)..at(81), at(90)..end];
            let mut new = 7;
            let mut expected = Vec::new();
            for range in ranges {
                kept.push(range.clone(), new);
                let places = [
                    range.start,
                    (range.start / 2 + range.end / 2),
                    range.end.saturating_sub(1),
                ];
                for old in places.into_iter().filter(|it| range.contains(it)) {
                    expected.push((old, Some(new.wrapping_add(old - range.start))));
                }
                new = new.wrapping_add(range.len() as u32).wrapping_add(end / 3);
            }
            for lost in [
                at(1),
                at(2),
                at(3).wrapping_sub(1),
                at(81),
                at(90).wrapping_sub(1),
            ] {
                if end >= 100 {
                    expected.push((lost, None));
                }
            }
            expected.push((end, None));
            for (old, new) in expected {
                assert_eq!(kept.of(old), new, "{old} of {end}");
            }
        }
    }
}
