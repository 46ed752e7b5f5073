//! The index of a site: its entries, found by the hash of their targets.
//!
//! It is in two layers: the records that were sorted together, which versions of a table share, and those
//! that were added since. So the index of the next version costs as much as its changes. When the later
//! records are no longer few, all are sorted into one layer.

use std::sync::Arc;

use super::arena::{Text, index};
use super::kept::Kept;
use super::kept_numbers::KeptNumbers;
use super::layer::Layer;
use super::record::Record;
use super::renumbering::Renumbering;

/// Up to this part of the base, or [`MIN_LATER`], records that were removed or added leave it as it is.
const LATER_PART: usize = 4;
const MIN_LATER: usize = if cfg!(any(test, fuzzing)) { 16 } else { 4096 };

/// How many ranges of the base may move separately: a target is found in as many steps as this has bits.
const MAX_RANGES: usize = 1024;

/// The records of a site.
#[derive(Debug)]
pub(crate) struct Index {
    /// Records with the targets of the version for which they were sorted.
    base: Arc<Layer>,
    /// What has changed since; `None` in that version.
    later: Option<Box<Later>>,
}

/// The changes to a base.
#[derive(Debug)]
struct Later {
    /// Where the targets of the base are now; those of entries that were removed are nowhere.
    moved: Kept,
    /// The number of records of the base whose entries were removed.
    removed: usize,
    /// The records that are not in the base. Their numbers follow those of the base.
    added: Layer,
}

/// The index of a changed site.
pub(crate) struct ChangedIndex {
    pub(crate) index: Index,
    pub(crate) kept_numbers: KeptNumbers,
    /// The numbers of the added records, in ascending order.
    pub(crate) added_numbers: Vec<u32>,
}

impl Index {
    pub(crate) fn new(records: Vec<Record>) -> Self {
        Self::of_layer(Layer::new(records))
    }

    fn of_layer(base: Layer) -> Self {
        Self {
            base: Arc::new(base),
            later: None,
        }
    }

    /// Returns the index of a changed site, given where the targets that were kept are now, and the numbers
    /// of all other entries, in ascending order.
    pub(crate) fn changed(&self, kept: &Kept, removed: &[u32], added: Vec<Record>) -> ChangedIndex {
        let base_end = self.base_end();
        let (added, mut added_numbers, moved) = match &self.later {
            None => {
                let numbers = (0..index(added.len())).collect();
                (Layer::new(added), numbers, kept.clone())
            }
            Some(later) => {
                let changed = later.added.changed(kept, added);
                (changed.layer, changed.added_numbers, later.moved.then(kept))
            }
        };
        let of_base = removed.partition_point(|number| *number < base_end);
        let before = self.later.as_ref().map_or(0, |later| later.removed);
        let later = Later {
            moved,
            removed: before + of_base,
            added,
        };
        let index = if later.is_small_after(&self.base) {
            added_numbers.iter_mut().for_each(|it| *it += base_end);
            Self {
                base: Arc::clone(&self.base),
                later: Some(Box::new(later)),
            }
        } else {
            let sorted = self.base.changed(&later.moved, later.added.into_records());
            let place_of = |number: &u32| sorted.added_numbers[*number as usize];
            added_numbers = added_numbers.iter().map(place_of).collect();
            Self::of_layer(sorted.layer)
        };
        ChangedIndex {
            kept_numbers: self.kept_numbers(&index, removed, &added_numbers),
            index,
            added_numbers,
        }
    }

    /// Returns the numbers of kept entries in another version, in which they are in the same order, given the
    /// numbers of those that were removed and, there, of those that were added, both in ascending order.
    pub(crate) fn kept_numbers(&self, next: &Self, removed: &[u32], added: &[u32]) -> KeptNumbers {
        let base_end = self.base_end();
        let of_base = |numbers: &[u32]| numbers.partition_point(|number| *number < base_end);
        if of_base(added) > 0 || !self.keeps_base_in(next, &removed[..of_base(removed)]) {
            return KeptNumbers::Each(self.each_kept_number(next, removed, added));
        }
        let after_base = |numbers: &[u32]| {
            let numbers = numbers[of_base(numbers)..].iter();
            numbers.map(|number| number - base_end).collect::<Vec<_>>()
        };
        let count = self.numbers_end() - base_end as usize;
        KeptNumbers::AfterBase {
            base_end,
            added: Renumbering::new(count, &after_base(removed), &after_base(added)),
        }
    }

    /// Returns whether another version has the same base, and all its entries but those that were removed.
    ///
    /// The base may have other versions of an entry that both have: it was read again, perhaps from another
    /// file, or because one of two parts that changed places counts as the moved one.
    fn keeps_base_in(&self, next: &Self, removed: &[u32]) -> bool {
        let removed_until = |index: &Self| index.later.as_ref().map_or(0, |later| later.removed);
        Arc::ptr_eq(&self.base, &next.base)
            && removed_until(next) == removed_until(self) + removed.len()
            && !removed.iter().any(|number| next.is_kept(*number))
            && match (&self.later, &next.later) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(old), Some(new)) => new.moved.is_within(&old.moved),
            }
    }

    fn each_kept_number(&self, next: &Self, removed: &[u32], added: &[u32]) -> Vec<u32> {
        let kept = |index: &Self, others: &[u32]| {
            let mut is_kept = vec![true; index.numbers_end()];
            for other in others {
                is_kept[*other as usize] = false;
            }
            is_kept
        };
        let (kept_old, kept_new) = (kept(self, removed), kept(next, added));
        let old_numbers = self.numbers_by_key().filter(|it| kept_old[*it as usize]);
        let new_numbers = next.numbers_by_key().filter(|it| kept_new[*it as usize]);
        let mut numbers = vec![0; self.numbers_end()];
        for (before, now) in old_numbers.zip(new_numbers) {
            numbers[before as usize] = now;
        }
        numbers
    }

    /// Returns the number of records.
    pub(crate) fn len(&self) -> usize {
        let base = self.base.records().len();
        match &self.later {
            None => base,
            Some(later) => base - later.removed + later.added.records().len(),
        }
    }

    /// Returns a number that is greater than that of every record.
    pub(crate) fn numbers_end(&self) -> usize {
        let added = self.later.as_ref().map(|later| later.added.records());
        self.base.records().len() + added.map_or(0, <[_]>::len)
    }

    /// Returns the number of each record, in ascending order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.base_numbers()
            .chain(self.base_end()..index(self.numbers_end()))
    }

    /// Returns the number of each record, in the order of keys, and then of targets.
    pub(crate) fn numbers_by_key(&self) -> impl Iterator<Item = u32> {
        let mut base = self.base_numbers().peekable();
        let mut added = (self.base_end()..index(self.numbers_end())).peekable();
        let order_of = |number: u32| {
            let record = self.record(number);
            (record.key, record.target)
        };
        std::iter::from_fn(move || match (base.peek(), added.peek()) {
            (Some(&one), Some(&other)) if order_of(other) < order_of(one) => added.next(),
            (None, _) => added.next(),
            (Some(_), _) => base.next(),
        })
    }

    /// Returns the record with the given number.
    #[inline]
    pub(crate) fn record(&self, number: u32) -> Record {
        match &self.later {
            None => *self.base.record(number),
            Some(later) => later.record(number, &self.base),
        }
    }

    /// Returns the number of the entry with the given key and place of its target.
    pub(crate) fn number_of(&self, key: u64, target: Text) -> Option<u32> {
        let Some(later) = &self.later else {
            return self.base.number_of(key, target);
        };
        match later.moved.before(target.offset()) {
            Some(before) => self.base.number_of(key, Text::at(before)),
            None => Some(self.base_end() + later.added.number_of(key, target)?),
        }
    }

    /// Returns the numbers of the entries with the given key.
    pub(crate) fn with_key(&self, key: u64) -> impl Iterator<Item = u32> + Clone {
        self.found(move |layer| layer.with_key(key))
    }

    /// Returns the numbers of the entries whose key begins with the bits of an auto code.
    pub(crate) fn with_code_bits(&self, value: u64) -> impl Iterator<Item = u32> {
        self.found(move |layer| layer.with_code_bits(value))
    }

    /// Returns the numbers of the entries with keys from `first` to `last`.
    pub(crate) fn with_keys(&self, first: u64, last: u64) -> impl Iterator<Item = u32> {
        self.found(move |layer| layer.with_keys(first, last))
    }

    /// Returns the memory in use, in bytes; shared memory counts in each index.
    pub(crate) fn heap_bytes(&self) -> usize {
        let later = self.later.as_ref();
        let later = later.map(|it| it.added.heap_bytes() + it.moved.heap_bytes());
        self.base.heap_bytes() + later.unwrap_or_default()
    }

    /// Returns what is found in either layer.
    #[inline]
    fn found<'i, I: Iterator<Item = u32> + Clone>(
        &'i self,
        find: impl Fn(&'i Layer) -> I,
    ) -> impl Iterator<Item = u32> + Clone {
        let base_end = self.base_end();
        let added = self.later.as_ref().map(|later| find(&later.added));
        let added = added.into_iter().flatten();
        let base = find(&self.base).filter(|number| self.is_kept(*number));
        base.chain(added.map(move |number| base_end + number))
    }

    /// Returns the number after those of the base.
    fn base_end(&self) -> u32 {
        index(self.base.records().len())
    }

    /// Returns the numbers of the records of the base whose entries were not removed.
    fn base_numbers(&self) -> impl Iterator<Item = u32> {
        (0..self.base_end()).filter(|number| self.is_kept(*number))
    }

    /// Returns whether the entry of a record of the base was not removed.
    #[inline]
    fn is_kept(&self, number: u32) -> bool {
        let is_in = |later: &Later| later.target_of(self.base.record(number)).is_some();
        self.later.as_deref().is_none_or(is_in)
    }
}

impl Later {
    /// Returns whether the changes are few compared to the base.
    fn is_small_after(&self, base: &Layer) -> bool {
        let most = (base.records().len() / LATER_PART).max(MIN_LATER);
        self.removed + self.added.records().len() <= most && self.moved.len() <= MAX_RANGES
    }

    /// Returns where the target of a record of the base is now.
    #[inline]
    fn target_of(&self, record: &Record) -> Option<Text> {
        self.moved.of({ record.target }.offset()).map(Text::at)
    }

    #[inline]
    fn record(&self, number: u32, base: &Layer) -> Record {
        let base_end = index(base.records().len());
        if number >= base_end {
            return *self.added.record(number - base_end);
        }
        let record = base.record(number);
        let target = self.target_of(record);
        Record {
            target: target.expect("an entry that was removed has no number"),
            ..*record
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index as Choice;

    use super::super::record::ShapeNumber;
    use super::*;

    /// The distance between targets.
    const STEP: u32 = 3;

    /// Replaces some entries by new ones with some keys.
    #[derive(Debug, Clone)]
    struct Edit {
        from: Choice,
        count: usize,
        keys: Vec<u64>,
    }

    fn an_edit() -> impl Strategy<Value = Edit> {
        (any::<Choice>(), 0..6_usize, vec(a_key(), 0..8)).prop_map(|(from, count, keys)| Edit {
            from,
            count,
            keys,
        })
    }

    /// Keys of which some are equal or near each other.
    fn a_key() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), 0..9_u64, Just(u64::MAX), Just(7 << 40)]
    }

    fn record(place: usize, key: u64) -> Record {
        Record {
            key,
            target: Text::at(index(place) * STEP),
            line: 0,
            shape: ShapeNumber::new(0),
        }
    }

    fn records(keys: &[u64]) -> Vec<Record> {
        let numbered = keys.iter().enumerate();
        numbered.map(|(place, key)| record(place, *key)).collect()
    }

    /// Returns the key and the target of each record, in that order.
    fn sorted(keys: &[u64]) -> Vec<(u64, u32)> {
        let mut all: Vec<_> = (records(keys).iter())
            .map(|record| (record.key, { record.target }.offset()))
            .collect();
        all.sort_unstable();
        all
    }

    fn described(index: &Index, number: u32) -> (u64, u32) {
        let record = index.record(number);
        (record.key, { record.target }.offset())
    }

    proptest! {
        #[test]
        fn a_changed_index_has_the_same_entries_as_a_new_one(
            keys in vec(a_key(), 0..200),
            edits in vec(an_edit(), 1..12),
        ) {
            let mut keys = keys;
            let mut site = Index::new(records(&keys));
            for edit in edits {
                let from = edit.from.index(keys.len() + 1);
                let to = keys.len().min(from + edit.count);
                let mut kept = Kept::new(index(keys.len()) * STEP);
                let place = |number: usize| index(number) * STEP;
                let removed: Vec<u32> = {
                    let places = place(from)..place(to);
                    let numbers = site.numbers();
                    numbers.filter(|it| places.contains(&described(&site, *it).1)).collect()
                };
                kept.push(0..place(from), 0);
                kept.push(place(to)..place(keys.len()), place(from + edit.keys.len()));
                let added = edit.keys.iter().enumerate();
                let added = added.map(|(number, key)| record(from + number, *key));
                let changed = site.changed(&kept, &removed, added.collect());

                // Each kept entry is found under its new number.
                for number in site.numbers().filter(|it| !removed.contains(it)) {
                    let (key, target) = described(&site, number);
                    let now = described(&changed.index, changed.kept_numbers.of(number));
                    prop_assert_eq!(Some(now), kept.of(target).map(|target| (key, target)));
                }
                keys.splice(from..to, edit.keys.iter().copied());
                site = changed.index;
                let of_added: Vec<_> = (changed.added_numbers.iter())
                    .map(|number| described(&site, *number))
                    .collect();
                let mut expected: Vec<_> = (edit.keys.iter().zip(from..))
                    .map(|(key, number)| (*key, place(number)))
                    .collect();
                expected.sort_unstable();
                prop_assert_eq!(of_added, expected);

                let expected = sorted(&keys);
                let by_key = site.numbers_by_key().map(|it| described(&site, it));
                prop_assert_eq!(by_key.collect::<Vec<_>>(), expected.clone());
                prop_assert_eq!(site.len(), keys.len());
                prop_assert!(site.numbers().is_sorted());
                let numbers: BTreeMap<_, _> =
                    site.numbers().map(|it| (described(&site, it), it)).collect();
                prop_assert_eq!(numbers.len(), keys.len());
                for ((key, target), number) in &numbers {
                    let found = site.number_of(*key, Text::at(*target));
                    prop_assert_eq!(found, Some(*number));
                    let mut same: Vec<_> = site.with_key(*key).collect();
                    same.sort_unstable_by_key(|it| described(&site, *it));
                    let expected = numbers.range((*key, 0)..=(*key, u32::MAX));
                    prop_assert_eq!(same, expected.map(|(_, it)| *it).collect::<Vec<_>>());
                }
            }
        }
    }
}
