//! Bit sets: sets of numbers with one bit for each possible number.

/// How many numbers fit in a machine word.
const WORD: usize = u64::BITS as usize;

/// Some of the numbers below a bound.
#[derive(Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// Returns an empty set of numbers below a bound.
    pub(super) fn none(bound: usize) -> Self {
        Self(vec![0; bound.div_ceil(WORD)])
    }

    /// Returns all numbers below a bound, and perhaps a few more.
    pub(super) fn all(bound: usize) -> Self {
        Self(vec![u64::MAX; bound.div_ceil(WORD)])
    }

    /// Adds a number.
    pub(super) fn insert(&mut self, number: u32) {
        let number = number as usize;
        self.0[number / WORD] |= 1 << (number % WORD);
    }

    /// Returns whether it has a number.
    pub(super) fn contains(&self, number: u32) -> bool {
        let number = number as usize;
        self.0[number / WORD] >> (number % WORD) & 1 == 1
    }

    /// Keeps only the numbers that another set has, too.
    pub(super) fn keep(&mut self, others: &Self) {
        let pairs = self.0.iter_mut().zip(&others.0);
        pairs.for_each(|(own, other)| *own &= other);
    }

    /// Removes the numbers that another set has.
    pub(super) fn remove(&mut self, others: &Self) {
        let pairs = self.0.iter_mut().zip(&others.0);
        pairs.for_each(|(own, other)| *own &= !other);
    }

    /// Returns the number of its elements.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns its numbers, the least first.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.0).flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(at * u64::BITS + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_one_bit() {
        let mut some = Bits::none(200);
        for number in [0, 63, 64, 199] {
            assert!(!some.contains(number));
            some.insert(number);
            assert!(some.contains(number));
        }
        assert!(some.iter().eq([0, 63, 64, 199]));
        assert_eq!(some.len(), 4);
        let mut rest = Bits::all(200);
        rest.remove(&some);
        assert!(!rest.contains(63) && rest.contains(62));
        rest.keep(&some);
        assert_eq!(rest.iter().next(), None);
    }
}
