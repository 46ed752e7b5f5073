//! Tables generated from a seed: the same in each run, on every machine.
//!
//! They compile without problems if the keys that are added to their entries do.

use std::fmt::Write;

/// The letters of words.
const LETTERS: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";

/// Numbers that look random: SplitMix64 (Steele, Lea and Flood: "Fast splittable pseudorandom number
/// generators", 2014).
pub(crate) struct Random(u64);

impl Random {
    /// Returns the sequence of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number below a bound, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // The remainder fits both types, because the bound does.
        (mixed % bound as u64) as usize
    }

    /// Returns a word of small letters.
    pub(crate) fn word(&mut self, len: usize) -> String {
        let letter = |_| char::from(LETTERS[self.below(LETTERS.len())]);
        (0..len).map(letter).collect()
    }
}

/// Returns the text of a table for `https://short.code/`, whose entries have a URL each and the
/// lines that `keys` writes for the number of one: indented by two spaces.
#[allow(dead_code, reason = "not every benchmark needs it")]
pub(crate) fn table(entries: usize, mut keys: impl FnMut(usize, &mut Random) -> String) -> String {
    let mut random = Random::new(1);
    let mut text = "---\nbase_url: https://short.code/\nmapping:\n".to_owned();
    for number in 0..entries {
        let (host, path) = (random.word(8), random.word(12));
        let keys = keys(number, &mut random);
        // Its number makes it unique; the slash allows a path to be appended.
        writeln!(text, "- url: https://{host}.example/{path}/{number}/{keys}")
            .expect("a string takes any text");
    }
    text
}
