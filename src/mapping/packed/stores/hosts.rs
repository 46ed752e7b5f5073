//! Hosts: the beginnings that targets share, from the scheme to the slash after the host, each kept
//! once.
//!
//! Most links of a table lead to few hosts. A beginning gets a number when it is met again: one
//! that only a single target has is stored with that target, because a number would cost more than
//! it saves. A number never changes from version to version, so the targets of unchanged entries
//! need no change either.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use super::arena::index;

/// The sizes of the memory of hosts that were met once, in words of 64 bits.
const MIN_MET: usize = 1 << 6;
const MAX_MET: usize = 1 << 12;

/// The beginnings of targets, by number.
#[derive(Clone, Default)]
pub(crate) struct Hosts {
    texts: String,
    /// Where the text of each number ends.
    ends: Vec<u32>,
    numbers: HashTable<u32>,
    hasher: RandomState,
    met: Met,
}

/// Hosts that were met once, as bits of their hashes: some that were not seem to be, and some are
/// forgotten, so that memory is bounded. Either costs a few bytes for a host.
#[derive(Clone, Default)]
struct Met {
    bits: Vec<u64>,
    count: usize,
}

impl Hosts {
    /// Returns the number of a beginning, if it has one.
    pub(super) fn find(&self, start: &str) -> Option<u32> {
        let is_it = |&number: &u32| self.get(number) == start;
        self.numbers.find(self.hash(start), is_it).copied()
    }

    /// Gives a beginning without a number one if it was met before.
    pub(super) fn meet(&mut self, start: &str) -> Option<u32> {
        let is_met = self.met.insert(self.hash(start));
        is_met.then(|| self.add(start))
    }

    /// Gives a beginning without a number one.
    pub(super) fn add(&mut self, start: &str) -> u32 {
        let hash = self.hash(start);
        let number = index(self.ends.len());
        self.texts.push_str(start);
        self.ends.push(index(self.texts.len()));
        let (texts, ends, hasher) = (&self.texts, &self.ends, &self.hasher);
        let hash_of = |number: &u32| hasher.hash_one(text(texts, ends, *number));
        self.numbers.insert_unique(hash, number, hash_of);
        number
    }

    /// Returns whether each beginning of others has the same number here.
    pub(super) fn extends(&self, others: &Self) -> bool {
        self.ends.starts_with(&others.ends) && self.texts.starts_with(&others.texts)
    }

    /// Returns the beginning with the given number.
    pub(crate) fn get(&self, number: u32) -> &str {
        text(&self.texts, &self.ends, number)
    }

    /// Returns all beginnings, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..index(self.ends.len())).map(|number| self.get(number))
    }

    /// Releases the memory that was reserved for more.
    pub(super) fn shrink(&mut self) {
        self.texts.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.texts.capacity()
            + self.ends.capacity() * size_of::<u32>()
            + self.numbers.allocation_size()
            + self.met.bits.capacity() * size_of::<u64>()
    }

    fn hash(&self, start: &str) -> u64 {
        self.hasher.hash_one(start)
    }
}

/// Shows the beginnings alone: hashes are different in each run.
impl fmt::Debug for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

fn text<'h>(texts: &'h str, ends: &[u32], number: u32) -> &'h str {
    let number = number as usize;
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &texts[start as usize..ends[number] as usize]
}

impl Met {
    /// Adds a hash; returns whether it seems to be there already.
    fn insert(&mut self, hash: u64) -> bool {
        // Half full, it would take too many for known.
        if self.count * 2 >= self.bits.len() * 64 {
            let words = (self.bits.len() * 2).clamp(MIN_MET, MAX_MET);
            self.bits = vec![0; words];
            self.count = 0;
        }
        let at = (hash >> 32) as usize % (self.bits.len() * 64);
        let (word, bit) = (&mut self.bits[at / 64], 1 << (at % 64));
        let is_known = *word & bit != 0;
        *word |= bit;
        self.count += usize::from(!is_known);
        is_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_gets_a_number_when_it_is_met_again() {
        let mut hosts = Hosts::default();
        for (start, expected) in [
            ("https://a.org/", None),
            ("https://a.org/", Some(0)),
            ("http://a.org/", None),
            ("https://a.org:80/", None),
            ("http://a.org/", Some(1)),
        ] {
            assert_eq!(hosts.meet(start), expected, "{start}");
        }
        assert_eq!(hosts.find("https://a.org/"), Some(0));
        assert_eq!(hosts.find("https://a.org:80/"), None);
        assert!(hosts.iter().eq(["https://a.org/", "http://a.org/"]));
    }

    #[test]
    fn hosts_that_are_met_once_take_bounded_memory() {
        let mut hosts = Hosts::default();
        for number in 0..1_000_000 {
            hosts.meet(&format!("https://{number}.org/"));
        }
        assert!(hosts.met.bits.len() <= MAX_MET);
        // At most half of the bits are set at any time, and a quarter on average.
        assert!(hosts.ends.len() < 400_000, "{}", hosts.ends.len());
    }
}
