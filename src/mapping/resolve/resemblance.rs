//! Resemblance of texts: the number of typos between them, ignoring case.
//!
//! Anyone may request a code that does not exist, so thousands of codes must be compared in a
//! fraction of a millisecond: a column of the matrix of distances is computed at once, as the bits
//! of a number (H. Hyyrö, "Bit-Parallel Approximate String Matching Algorithms with Transposition",
//! 2003).

use std::iter;

/// The maximum length of the text that others are compared with, in characters: the number of bits
/// of an integer.
pub(super) const MAX_CHARS: usize = 64;

/// A text that others are compared with.
pub(super) struct Resemblance {
    /// In lower case.
    text: String,
    length: usize,
    /// For each character, the places that have it: for those in ASCII, and for others.
    ascii: [u64; 128],
    others: Vec<(char, u64)>,
}

impl Resemblance {
    /// Reads a text; `None` if it is empty or too long.
    pub(super) fn to(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let length = text.chars().count();
        if !(1..=MAX_CHARS).contains(&length) {
            return None;
        }
        let (mut ascii, mut others) = ([0; 128], Vec::new());
        for (place, c) in text.chars().enumerate() {
            let bit = 1 << place;
            match ascii.get_mut(c as usize) {
                Some(places) => *places |= bit,
                None => match others.iter_mut().find(|(other, _)| *other == c) {
                    Some((_, places)) => *places |= bit,
                    None => others.push((c, bit)),
                },
            }
        }
        Some(Self {
            text,
            length,
            ascii,
            others,
        })
    }

    /// Returns how many characters it has.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Returns whether another text begins with it.
    pub(super) fn begins(&self, other: &str) -> bool {
        let mut other = other.chars().flat_map(char::to_lowercase);
        self.text.chars().all(|c| other.next() == Some(c))
    }

    /// Returns the number of typos between it and another text, if they are not more than `most`:
    /// characters that are missing, added or replaced, and neighbours that are exchanged ("optimal
    /// string alignment").
    pub(super) fn typos(&self, other: &str, most: usize) -> Option<usize> {
        if other.is_ascii() {
            let folded = other.bytes().map(|byte| byte.to_ascii_lowercase());
            let places = folded.map(|byte| self.ascii[usize::from(byte)]);
            return self.distance(places, other.len(), most);
        }
        let folded = || other.chars().flat_map(char::to_lowercase);
        let places = folded().map(|c| self.places(c));
        self.distance(places, folded().count(), most)
    }

    fn places(&self, c: char) -> u64 {
        let of_other = || self.others.iter().find(|(other, _)| *other == c);
        match self.ascii.get(c as usize) {
            Some(places) => *places,
            None => of_other().map_or(0, |(_, places)| *places),
        }
    }

    /// Returns the distance to a text of that length, given the places of its characters in this
    /// one.
    fn distance(
        &self,
        places: impl Iterator<Item = u64>,
        length: usize,
        most: usize,
    ) -> Option<usize> {
        if length.abs_diff(self.length) > most {
            return None;
        }
        let last = 1 << (self.length - 1);
        let mut distance = self.length;
        // Where the distance grows and shrinks downwards, where it is kept diagonally, and the places
        // of the character before.
        let (mut grows, mut shrinks, mut kept, mut before) = (u64::MAX, 0, 0, 0);
        for (places, left) in iter::zip(places, (0..length).rev()) {
            let exchanged = ((!kept & places) << 1) & before;
            kept = ((places & grows).wrapping_add(grows) ^ grows) | places | shrinks | exchanged;
            let (mut right_grows, mut right_shrinks) = (shrinks | !(kept | grows), kept & grows);
            distance += usize::from(right_grows & last != 0);
            distance -= usize::from(right_shrinks & last != 0);
            // Each remaining character reduces it by at most one.
            if distance > most + left {
                return None;
            }
            right_grows = right_grows << 1 | 1;
            right_shrinks <<= 1;
            grows = right_shrinks | !(kept | right_grows);
            shrinks = right_grows & kept;
            before = places;
        }
        (distance <= most).then_some(distance)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_each_kind_of_typo_once() {
        for (one, other, expected) in [
            ("gnu-home", "gnu-home", Some(0)),
            ("gnu-home", "GNU-Home", Some(0)),
            ("gnu-home", "gnu-hoem", Some(1)),
            ("gnu-home", "gnu-hme", Some(1)),
            ("gnu-home", "gnuu-home", Some(1)),
            ("gnu-home", "gnu_home", Some(1)),
            ("été", "ÉTE", Some(1)),
            ("短い", "短く", Some(1)),
            ("gnu", "fsf", Some(3)),
            ("gnu", "fsfe", None),
            ("gnu", "", Some(3)),
        ] {
            let found = Resemblance::to(one).unwrap().typos(other, 3);
            assert_eq!(found, expected, "{one} {other}");
        }
    }

    #[test]
    fn only_a_text_of_some_characters_is_compared() {
        assert!(Resemblance::to("").is_none());
        assert!(Resemblance::to(&"é".repeat(MAX_CHARS)).is_some());
        assert!(Resemblance::to(&"é".repeat(MAX_CHARS + 1)).is_none());
    }

    proptest! {
        #[test]
        fn it_is_the_distance_of_others(
            one in "[a-cé短]{1,64}", other in "[a-cé短]{0,70}", most in 0_usize..70
        ) {
            let expected = strsim::osa_distance(&one, &other);
            let found = Resemblance::to(&one).unwrap().typos(&other, most);
            prop_assert_eq!(found, (expected <= most).then_some(expected));
        }

        #[test]
        fn beginnings_are_found(one in "[a-cA-Cé]{1,5}", other in "[a-cA-Cé]{0,8}") {
            let begins = other.to_lowercase().starts_with(&one.to_lowercase());
            prop_assert_eq!(Resemblance::to(&one).unwrap().begins(&other), begins);
        }
    }
}
