//! The new places of what was kept from one version of a site to the next: what stays next to each other
//! moves together.
//!
//! Every entry of a table is looked up, in no order of its place, so most are answered by a directory
//! over equal parts of the places, without a search whose steps a processor cannot predict.

use std::ops::Range;

/// The approximate number of parts, as a power of two: few enough for the nearest cache.
const PARTS_BITS: u32 = 11;

/// Ranges of places that were kept, in ascending order.
#[derive(Debug)]
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

    #[cold]
    fn searched(&self, old: u32) -> Option<u32> {
        let after = self.ranges.partition_point(|(range, _)| range.start <= old);
        let (range, by) = self.ranges.get(after.checked_sub(1)?)?;
        range.contains(&old).then_some(*by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
