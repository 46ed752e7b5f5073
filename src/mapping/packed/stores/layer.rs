//! Layers: records sorted by the hash of their targets, so that entries are found without another
//! index.
//!
//! Hashes are evenly distributed, so a directory over their first bits leads to within a few
//! records of the right one. Where many entries have the same target, each doubling takes one more
//! step.

use std::cmp::Ordering;
use std::ops::Range;

use super::arena::{Text, index};
use super::kept::Kept;
use super::record::Record;
use crate::mapping::value::KEY_REST;

/// The approximate number of records that share an item of the directory, as a power of two.
const SHARED_BITS: u32 = 2;

/// The maximum number of records that are read one by one.
const MOST_SCANNED: usize = 64;

/// Records of a site, sorted.
#[derive(Debug)]
pub(super) struct Layer {
    records: Vec<Record>,
    /// The start of the records with each value of the first bits, and a final item for the end.
    directory: Vec<u32>,
    shift: u32,
}

/// The next version of a layer.
pub(super) struct ChangedLayer {
    pub(super) layer: Layer,
    /// The numbers of the added records, in ascending order.
    pub(super) added_numbers: Vec<u32>,
}

impl Layer {
    pub(super) fn new(mut records: Vec<Record>) -> Self {
        records.sort_unstable_by_key(|record| (record.key, record.target));
        Self::of_sorted(records)
    }

    fn of_sorted(mut records: Vec<Record>) -> Self {
        records.shrink_to_fit();
        let bits = directory_bits(records.len());
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

    /// Returns the next version, given where the targets that were kept are now.
    ///
    /// Most of the time is that of copying memory: nothing is looked up for a record that is kept, except
    /// where its target is.
    pub(super) fn changed(&self, kept: &Kept, mut added: Vec<Record>) -> ChangedLayer {
        added.sort_unstable_by_key(|record| (record.key, record.target));
        let mut records: Vec<Record> = Vec::with_capacity(self.records.len() + added.len());
        let (mut removed, mut added_numbers) = (Vec::new(), Vec::with_capacity(added.len()));
        let mut at = 0;
        for record in added {
            let place = self.place_of(&record, at, kept);
            self.keep(at..place, kept, &mut records, &mut removed);
            added_numbers.push(index(records.len()));
            records.push(record);
            at = place;
        }
        self.keep(at..self.records.len(), kept, &mut records, &mut removed);
        records.shrink_to_fit();
        let layer = match u64::BITS - self.shift == directory_bits(records.len()) {
            true => Self {
                directory: self.changed_directory(&removed, &records, &added_numbers),
                records,
                shift: self.shift,
            },
            false => Self::of_sorted(records),
        };
        ChangedLayer {
            layer,
            added_numbers,
        }
    }

    /// Returns where an added record is among the records from a number on: after those that are before it
    /// in the next version.
    fn place_of(&self, added: &Record, from: usize, kept: &Kept) -> usize {
        let Record { key, target, .. } = *added;
        let is_before = |record: &Record| match { record.key }.cmp(&key) {
            Ordering::Equal => {
                let now = kept.of({ record.target }.offset());
                now.is_none_or(|now| Text::at(now) < target)
            }
            order => order.is_lt(),
        };
        let mut place = from.max(self.near(key).start as usize);
        while self.records.get(place).is_some_and(is_before) {
            place += 1;
        }
        place
    }

    /// Appends some records to those of the next version, or their numbers to those that were removed.
    fn keep(
        &self,
        numbers: Range<usize>,
        kept: &Kept,
        next: &mut Vec<Record>,
        removed: &mut Vec<u32>,
    ) {
        let mut end = next.len();
        next.extend_from_slice(&self.records[numbers.clone()]);
        for (at, number) in (end..next.len()).zip(numbers) {
            let record = next[at];
            match kept.of({ record.target }.offset()) {
                Some(target) => {
                    next[end] = Record {
                        target: Text::at(target),
                        ..record
                    };
                    end += 1;
                }
                None => removed.push(index(number)),
            }
        }
        next.truncate(end);
    }

    /// Returns the directory of the next version, which has as many items, given its records, the numbers
    /// of those that were added, and those of the records that were removed here.
    fn changed_directory(&self, removed: &[u32], records: &[Record], added: &[u32]) -> Vec<u32> {
        let item_of = |record: &Record| (record.key >> self.shift) as usize;
        let removed = removed.iter().map(|&it| &self.records[it as usize]);
        let added = added.iter().map(|&it| &records[it as usize]);
        let removed = removed.map(|record| (item_of(record), 1_u32.wrapping_neg()));
        let mut changes: Vec<_> = removed
            .chain(added.map(|record| (item_of(record), 1)))
            .collect();
        // Stable, because that is fast for two sorted parts.
        changes.sort_by_key(|(item, _)| *item);
        let mut directory = Vec::with_capacity(self.directory.len());
        let mut by = 0_u32;
        for (item, step) in changes {
            // The records of an item begin before the change.
            let before = self
                .directory
                .get(directory.len()..=item)
                .unwrap_or_default();
            directory.extend(before.iter().map(|start| start.wrapping_add(by)));
            by = by.wrapping_add(step);
        }
        let rest = &self.directory[directory.len()..];
        directory.extend(rest.iter().map(|start| start.wrapping_add(by)));
        directory
    }

    /// Returns all records, in the order of their numbers.
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the record with the given number.
    #[inline]
    pub(super) fn record(&self, number: u32) -> &Record {
        &self.records[number as usize]
    }

    /// Returns the number of the entry with the given key and place of its target.
    pub(super) fn number_of(&self, key: u64, target: Text) -> Option<u32> {
        let near = self.near(key);
        let records = &self.records[near.start as usize..near.end as usize];
        let at = records.binary_search_by_key(&(key, target), |record| (record.key, record.target));
        Some(near.start + index(at.ok()?))
    }

    /// Returns the numbers of the entries with the given key.
    pub(super) fn with_key(&self, key: u64) -> impl Iterator<Item = u32> + Clone {
        self.from(key, move |record| record.key == key)
    }

    /// Returns the numbers of the entries whose key begins with the bits of an auto code.
    pub(super) fn with_code_bits(&self, value: u64) -> impl Iterator<Item = u32> + Clone {
        let fits = move |record: &Record| record.key >> KEY_REST == value;
        self.from(value << KEY_REST, fits)
    }

    /// Returns the numbers of the entries with keys from `first` to `last`.
    pub(super) fn with_keys(&self, first: u64, last: u64) -> Range<u32> {
        let start = self.records.partition_point(|record| record.key < first);
        let end = self.records.partition_point(|record| record.key <= last);
        index(start)..index(end)
    }

    /// Converts the index into its records.
    pub(super) fn into_records(self) -> Vec<Record> {
        self.records
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.records.capacity() * size_of::<Record>() + self.directory.capacity() * size_of::<u32>()
    }

    /// Returns the numbers of the records from a key on, for as long as they fit.
    fn from(
        &self,
        key: u64,
        fits: impl Fn(&Record) -> bool + Clone,
    ) -> impl Iterator<Item = u32> + Clone {
        let near = self.near(key);
        let records = &self.records[near.start as usize..near.end as usize];
        let first = self.first_from(key, records);
        let fitting = records[first..]
            .iter()
            .take_while(move |record| fits(record));
        let numbers = near.start + index(first)..;
        numbers.zip(fitting).map(|(number, _)| number)
    }

    /// Returns how many of the records that share the first bits of a key are before it.
    ///
    /// Hashes are evenly distributed, so the key is probably where its further bits say: that reads one
    /// line of memory, where a binary search waits for one after the other.
    fn first_from(&self, key: u64, records: &[Record]) -> usize {
        let is_before = |record: &Record| record.key < key;
        // Many have the same target.
        if records.len() > MOST_SCANNED {
            return records.partition_point(is_before);
        }
        let further_bits = key << (u64::BITS - self.shift);
        let guess = u128::from(further_bits) * records.len() as u128;
        let mut first = (guess >> u64::BITS) as usize;
        while first > 0 && !is_before(&records[first - 1]) {
            first -= 1;
        }
        while records.get(first).is_some_and(is_before) {
            first += 1;
        }
        first
    }

    /// Returns the numbers of the records that share the first bits of a key.
    fn near(&self, key: u64) -> Range<u32> {
        let item = (key >> self.shift) as usize;
        self.directory[item]..self.directory[item + 1]
    }
}

/// Returns how many bits of a key the directory over so many records distinguishes.
fn directory_bits(records: usize) -> u32 {
    let wanted = records.checked_ilog2().unwrap_or(0);
    wanted.saturating_sub(SHARED_BITS).clamp(1, 28)
}

#[cfg(test)]
mod tests {
    use super::super::record::ShapeNumber;
    use super::*;

    #[test]
    fn records_are_found_wherever_they_are() {
        let even: Vec<u64> = (0..1000_u64)
            .map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .collect();
        let near_the_start = (0..50).collect();
        let near_the_end = (0..50).map(|number| u64::MAX - number).collect();
        let equal = [vec![7 << 40; 200], even.clone()].concat();
        for keys in [even, near_the_start, near_the_end, equal, vec![5], vec![]] {
            let layer = Layer::new(keys.iter().zip(0..).map(record).collect());
            let close = |key: &u64| [key.saturating_sub(1), *key, key.saturating_add(1)];
            for key in keys.iter().flat_map(close).chain([0, u64::MAX]) {
                let found: Vec<_> = layer.with_key(key).collect();
                let numbered = layer.records().iter().zip(0..);
                let expected: Vec<u32> = numbered
                    .filter(|(record, _)| record.key == key)
                    .map(|(_, number)| number)
                    .collect();
                assert_eq!(found, expected, "{key}");
            }
        }
    }

    fn record((key, offset): (&u64, u32)) -> Record {
        Record {
            key: *key,
            target: Text::at(offset),
            line: 0,
            shape: ShapeNumber::new(0),
        }
    }
}
