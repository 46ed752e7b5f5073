//! The order of a site's entries: by the hash of their targets, so that they are found without
//! any other index.
//!
//! Hashes are spread evenly, so a directory over their first bits leads to within a few records of
//! the right one. Should someone craft targets whose hashes are not, a step more is taken for each
//! doubling, no more.

use std::ops::Range;

use super::arena::{Text, index};
use super::record::Record;
use super::scheme::KEY_REST;

/// About how many records share an item of the directory, as a power of two.
const SHARED_BITS: u32 = 2;

/// The records of a site, sorted.
#[derive(Debug, Default)]
pub(super) struct Index {
    records: Vec<Record>,
    /// Where the records with each value of the first bits begin; one more for the end.
    directory: Vec<u32>,
    shift: u32,
}

impl Index {
    pub(super) fn new(mut records: Vec<Record>) -> Self {
        records.sort_unstable_by_key(|record| (record.key, record.target));
        records.shrink_to_fit();
        let wanted = records.len().checked_ilog2().unwrap_or(0);
        let bits = wanted.saturating_sub(SHARED_BITS).clamp(1, 28);
        let shift = u64::BITS - bits;
        let mut directory = Vec::with_capacity((1 << bits) + 1);
        directory.push(0);
        for (at, record) in records.iter().enumerate() {
            while directory.len() <= (record.key >> shift) as usize {
                directory.push(index(at));
            }
        }
        directory.resize((1 << bits) + 1, index(records.len()));
        Self {
            records,
            directory,
            shift,
        }
    }

    /// Returns all records, by their numbers.
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the record of that number.
    pub(super) fn record(&self, number: u32) -> Record {
        self.records[number as usize]
    }

    /// Returns the number of the entry with this key, and its target at that place.
    pub(super) fn number_of(&self, key: u64, target: Text) -> Option<u32> {
        let mut same = self.find(key, |record| record.key == key);
        same.find(|&number| self.record(number).target == target)
    }

    /// Returns the numbers of the entries whose target's hash begins with the bits of an auto code.
    pub(super) fn with_code_bits(&self, value: u64) -> Range<u32> {
        let from = value << KEY_REST;
        self.find(from, |record| record.key >> KEY_REST == value)
    }

    /// Takes the records out.
    pub(super) fn into_records(self) -> Vec<Record> {
        self.records
    }

    /// Returns the memory that it holds, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.records.capacity() * size_of::<Record>() + self.directory.capacity() * size_of::<u32>()
    }

    /// Returns the records from a key on for as long as they fit.
    fn find(&self, from: u64, fits: impl Fn(&Record) -> bool) -> Range<u32> {
        let item = (from >> self.shift) as usize;
        let (start, end) = (self.directory[item], self.directory[item + 1]);
        let near = &self.records[start as usize..end as usize];
        let first = near.partition_point(|record| record.key < from);
        let count = near[first..]
            .iter()
            .take_while(|record| fits(record))
            .count();
        let first = start + index(first);
        first..first + index(count)
    }
}
