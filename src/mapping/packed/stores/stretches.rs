//! Stretches: a directory over values that are sorted by the text that they belong to.
//!
//! It divides an arena into stretches of equal length, with a few values each, so that the values
//! of a text are found in one step instead of a binary search, which matters when all entries are
//! visited.

use std::ops::Range;

use super::arena::{Text, index};

/// The approximate number of values that share a stretch, as a power of two.
const SHARED_BITS: u32 = 2;

/// Where the values of each stretch begin.
#[derive(Debug, Default)]
pub(super) struct Stretches {
    /// With a final item for the end; empty if there are no values.
    starts: Vec<u32>,
    /// The length of a stretch, as a power of two.
    shift: u32,
}

impl Stretches {
    /// Divides the texts that values belong to, by which they are sorted.
    pub(super) fn new<T>(values: &[T], text_of: impl Fn(&T) -> Text) -> Self {
        let Some(last) = values.last() else {
            return Self::default();
        };
        let wanted = (values.len() >> SHARED_BITS).max(1);
        let per_stretch = text_of(last).offset() as usize / wanted;
        let shift = usize::BITS - per_stretch.leading_zeros();
        let mut starts = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let stretch = stretch(text_of(value), shift);
            while starts.len() <= stretch {
                starts.push(index(at));
            }
        }
        starts.push(index(values.len()));
        starts.shrink_to_fit();
        Self { starts, shift }
    }

    /// Returns where the values of a text are, and a few others.
    pub(super) fn near(&self, text: Text) -> Range<usize> {
        let stretch = stretch(text, self.shift);
        match self.starts.get(stretch..stretch + 2) {
            Some(&[start, end]) => start as usize..end as usize,
            _ => 0..0,
        }
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u32>()
    }
}

/// Returns the number of the stretch that a text is in. One that covers all offsets has 32 bits.
fn stretch(text: Text, shift: u32) -> usize {
    text.offset().checked_shr(shift).unwrap_or(0) as usize
}

#[cfg(test)]
mod tests {
    use super::super::arena::Arena;
    use super::*;

    #[test]
    fn values_are_near_their_text() {
        for count in [0, 1, 2, 3, 4, 5, 100, 1000] {
            let mut arena = Arena::default();
            let texts: Vec<Text> = (0..count)
                .map(|number: usize| arena.store(&"x".repeat(number * number % 97)))
                .collect();
            // Every third text has values, of which it has up to three.
            let mut values = Vec::new();
            for (number, text) in texts.iter().enumerate().step_by(3) {
                values.extend(std::iter::repeat_n(*text, number % 4));
            }
            let stretches = Stretches::new(&values, |text| *text);
            for text in texts {
                let near = stretches.near(text);
                let own = values.iter().filter(|it| **it == text).count();
                let found = values[near.clone()]
                    .iter()
                    .filter(|it| **it == text)
                    .count();
                assert_eq!(found, own);
                assert!(near.len() < 40, "{near:?}");
            }
        }
    }

    #[test]
    fn few_values_at_the_end_of_a_large_arena_share_a_stretch() {
        let start = Arena::default().store("");
        let values = [start, start.moved(1 << 31), start.moved(u32::MAX)];
        let stretches = Stretches::new(&values, |text| *text);
        assert_eq!(stretches.near(values[2]), 0..3);
        assert!(stretches.starts.len() < 10);
    }
}
