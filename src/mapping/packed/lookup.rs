//! Finding the entries of a site: by code, by target, or all of them.

use std::borrow::Cow;
use std::ops::Range;

use super::draft::Owner;
use super::entry::Entry;
use super::site::Site;
use super::stores::{CodeKind, NoteKind, Text};
use super::variant::Variant;
use crate::mapping::value::{Scheme, scheme, target};

/// The part of all targets from which on it is faster to look at each entry than to hash the targets.
const HASHED_PART: usize = if cfg!(any(test, fuzzing)) { 4 } else { 64 };

impl Site {
    /// Returns the entries in written order, which differs from the order of storage.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        let mut numbers: Vec<u32> = self.index.numbers().collect();
        numbers.sort_unstable_by_key(|&number| self.index.record(number).target);
        numbers.into_iter().map(|number| self.entry(number))
    }

    /// Returns the entries in the order of storage, in which they are numbered.
    pub(crate) fn stored_entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.index.numbers().map(|number| self.entry(number))
    }

    /// Returns the entry that has exactly this code.
    pub fn lookup(&self, code: &str) -> Option<Entry<'_>> {
        Some(self.find(code)?.0)
    }

    /// Returns the entry that requests find under a code: the one that has exactly this code, or else, if
    /// the case of letters does not count, the one that has it as a short code or alias in another case.
    pub fn lookup_in_any_case(&self, code: &str) -> Option<Entry<'_>> {
        self.lookup(code).or_else(|| self.lookup_folded(code))
    }

    /// Returns the entry that has a code as a short code or alias, in any case, if the case of letters does
    /// not count.
    pub(crate) fn lookup_folded(&self, code: &str) -> Option<Entry<'_>> {
        self.lookup_folded_form(&self.codes.folded_form(code)?)
    }

    /// Returns the entry that has a code as a short code or alias, in any case, given without differences of
    /// case.
    pub(crate) fn lookup_folded_form(&self, code: &str) -> Option<Entry<'_>> {
        let number = self.codes.number_of_folded(code)?;
        Some(self.entry(self.codes.listed()[number as usize].entry))
    }

    /// Returns the code that requests find under a text, as it is written.
    pub(crate) fn written<'c>(&'c self, code: &'c str) -> Option<&'c str> {
        if self.lookup(code).is_some() {
            return Some(code);
        }
        let number = self.codes.number_in_any_case(code)?;
        Some(self.codes.text(self.codes.listed()[number as usize]))
    }

    /// Returns the entries that lead to a target in canonical form, or did before they were
    /// retired, in written order.
    pub fn leading_to(&self, target: &str) -> Vec<Entry<'_>> {
        let key = scheme::key(target);
        let numbers = self.index.with_key(key).chain(self.index.with_key(!key));
        let entries = numbers.map(|number| self.entry(number));
        let mut entries: Vec<_> = entries
            .filter(|entry| entry.target().as_deref() == Some(target))
            .collect();
        entries.sort_unstable_by_key(Entry::written);
        entries
    }

    /// Returns the entries of which a variant leads to a target in canonical form, in written order;
    /// an entry may be repeated.
    pub(crate) fn leading_to_by_variants(&self, target: &str) -> Vec<Entry<'_>> {
        let notes = self.variant_notes();
        let leading = notes.filter(|(_, it)| it.target() == target);
        leading
            .filter_map(|(owner, _)| self.entry_at(owner))
            .collect()
    }

    /// Returns the entries of which paths lead to a URL in canonical form, to which they are appended, if it is not
    /// a target, in no order; an entry may be repeated.
    pub(crate) fn leading_to_by_below(&self, url: &str) -> Vec<Entry<'_>> {
        let has_below = self.shapes.used().any(|it| it.has_below);
        let belows = has_below.then(|| self.notes.of_kind(NoteKind::Below));
        let belows = belows.into_iter().flatten();
        let belows = belows.filter(|(_, it)| *it == url).map(|(at, _)| at);
        let variants = self.variant_notes();
        let variants = variants.filter(|(_, it)| it.below() == Some(url));
        let leading = belows.chain(variants.map(|(at, _)| at));
        leading.filter_map(|at| self.entry_at(at)).collect()
    }

    /// Returns the entry with exactly this auto code.
    pub(crate) fn lookup_auto(&self, code: &str) -> Option<Entry<'_>> {
        let (entry, kind) = self.find(code)?;
        (kind == CodeKind::Auto).then_some(entry)
    }

    fn find(&self, code: &str) -> Option<(Entry<'_>, CodeKind)> {
        if let Some(entry) = self.hashed(code).next() {
            return Some((entry, CodeKind::Auto));
        }
        let listed = self.codes.find(code)?;
        Some((self.entry(listed.entry), listed.kind))
    }

    /// Returns the entry whose target has the hash that a code encodes, or several entries if the
    /// site is not settled.
    pub(crate) fn hashed(&self, code: &str) -> impl Iterator<Item = Entry<'_>> {
        let value = match self.scheme() {
            Scheme::Sha256 => scheme::key_bits(code),
            Scheme::Crc64Xz => None,
        };
        let numbers = value.into_iter();
        let numbers = numbers.flat_map(|value| self.index.with_code_bits(value));
        let entries = numbers.map(|number| self.entry(number));
        // The keys of other entries match by coincidence.
        entries.filter(|entry| entry.shape().is_hashed)
    }

    /// Returns the entries whose target has a hash whose code begins with the given
    /// text.
    pub(crate) fn hashed_from(&self, start: &str) -> impl Iterator<Item = Entry<'_>> {
        let keys = match self.scheme() {
            Scheme::Sha256 => scheme::keys_from(start),
            Scheme::Crc64Xz => None,
        };
        let numbers = keys.map(|(first, last)| self.index.with_keys(first, last));
        let entries = numbers.into_iter().flatten().map(|it| self.entry(it));
        entries.filter(|entry| entry.shape().is_hashed)
    }

    /// Returns the entry with the given key and target, if it was not removed.
    pub(super) fn entry_of(&self, owner: Owner) -> Option<Entry<'_>> {
        Some(self.entry(self.index.number_of(owner.key, owner.target)?))
    }

    /// Returns the entries for whose own target the predicate holds, in written order. It is given a target
    /// from its host on, at least up to the slash after that.
    fn entries_to(&self, applies: impl Fn(&str) -> bool) -> impl Iterator<Item = Entry<'_>> {
        let hosts = self.targets.hosts().iter();
        let shared: Vec<bool> = hosts
            .map(|start| applies(target::divided(start).1))
            .collect();
        self.targets.iter().filter_map(move |(at, host, rest)| {
            let may_apply = match host {
                Some(host) => shared[host as usize],
                None => applies(target::unpack(rest).1),
            };
            may_apply.then(|| self.entry_at(at))?
        })
    }

    /// Returns every variant with its entry, in written order, among them some of entries that were
    /// removed.
    fn variant_notes(&self) -> impl Iterator<Item = (Text, Variant<'_>)> {
        // Most tables have none.
        let has_variants = self.shapes.used().any(|it| it.has_variants);
        let notes = has_variants.then(|| self.notes.of_kind(NoteKind::Variant));
        let notes = notes.into_iter().flatten();
        notes.map(|(owner, text)| (owner, Variant::of_note(text)))
    }

    /// Returns the entries for whose target or `below`, or those of a variant, the predicate holds, in
    /// written order. It is given the URL as [`entries_to`](Self::entries_to) does.
    pub(crate) fn entries_leading_to(&self, applies: impl Fn(&str) -> bool) -> Vec<Entry<'_>> {
        let mut entries: Vec<_> = self.entries_to(&applies).collect();
        if self.shapes.used().any(|it| it.has_below || it.has_variants) {
            let applies = |url: &str| applies(target::divided(url).1);
            let belows = self.notes.of_kind(NoteKind::Below);
            let belows = belows.filter(|(_, url)| applies(url)).map(|(at, _)| at);
            let variants = self.variant_notes();
            let variants = variants.filter(|(_, it)| it.urls().any(applies));
            let applying = belows.chain(variants.map(|(at, _)| at));
            entries.extend(applying.filter_map(|at| self.entry_at(at)));
            entries.sort_unstable_by_key(Entry::written);
            entries.dedup_by_key(|entry| entry.number());
        }
        entries
    }

    /// Returns the entries with some keys, in written order.
    pub(crate) fn entries_with_keys(&self, keys: &[u64]) -> Vec<Entry<'_>> {
        let numbers = keys.iter().flat_map(|&key| self.index.with_key(key));
        let mut entries: Vec<_> = numbers.map(|number| self.entry(number)).collect();
        entries.sort_unstable_by_key(Entry::written);
        entries.dedup_by_key(|entry| entry.number());
        entries
    }

    /// Returns the numbers of the entries with targets in some ranges, in ascending order.
    pub(crate) fn numbers_between(&self, targets: &[Range<Text>]) -> Vec<u32> {
        let offsets = |it: &Range<Text>| it.start.offset() as usize..it.end.offset() as usize;
        let bytes: usize = targets.iter().map(|it| offsets(it).len()).sum();
        if bytes < self.targets.texts().len() / HASHED_PART {
            let entries = targets
                .iter()
                .flat_map(|it| self.entries_between(it.clone()));
            let mut numbers: Vec<_> = entries.map(|entry| entry.number()).collect();
            numbers.sort_unstable();
            return numbers;
        }
        let is_in = |target: Text| {
            let before = targets.partition_point(|range| range.start <= target);
            before > 0 && target < targets[before - 1].end
        };
        let numbers = self.index.numbers();
        numbers
            .filter(|&number| is_in(self.index.record(number).target))
            .collect()
    }

    /// Returns the entries with some targets, given the first and the end, in written order.
    pub(crate) fn entries_between(&self, targets: Range<Text>) -> impl Iterator<Item = Entry<'_>> {
        let listed = &self.codes.listed()[self.listed_between(&targets)];
        let mut listed = listed.iter().map(|it| self.entry(it.entry)).peekable();
        let places = self.targets.texts().between(targets).map(|(at, _)| at);
        places.filter_map(move |at| {
            let own = listed.next_if(|entry| entry.written() == at);
            while listed.next_if(|entry| entry.written() == at).is_some() {}
            own.or_else(|| self.entry_at(at))
        })
    }

    /// Returns the entry with a target at a place, if it was not removed.
    fn entry_at(&self, target: Text) -> Option<Entry<'_>> {
        let key = scheme::key(&self.targets.get(target).to_string());
        let owner = |key| Owner { target, key };
        self.entry_of(owner(key))
            .or_else(|| self.entry_of(owner(!key)))
    }

    /// Returns every code.
    pub(crate) fn codes(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let hashed = self.stored_entries();
        let hashed = hashed.filter(|entry| entry.shape().is_hashed);
        let listed = self.codes.listed().iter();
        hashed
            .map(|entry| entry.code())
            .chain(listed.map(|&listed| Cow::Borrowed(self.codes.text(listed))))
    }

    pub(crate) fn entry(&self, number: u32) -> Entry<'_> {
        Entry::new(self, number)
    }
}
