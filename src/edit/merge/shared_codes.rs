//! Codes that two entries of the result would share, or that requests could not distinguish.
//!
//! Where the case of letters does not count, short codes and aliases that differ only in case are such codes,
//! also those of one entry.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::sides::Sides;
use crate::edit::layout::LayoutEntry;
use crate::mapping::{Case, fold_case};

/// The codes of an entry.
#[derive(Debug)]
pub(super) struct EntryCodes<'l> {
    /// The code by which it is matched.
    name: &'l str,
    ours: HashSet<&'l str>,
    theirs: HashSet<&'l str>,
    /// Those in the result, starting with its own; empty if it is not agreed on.
    merged: Vec<&'l str>,
    /// Those of them that a person chose, and that are therefore found in any case.
    custom: Vec<&'l str>,
}

/// Two codes of entries, given by their numbers, that are the same to requests; the second is a later one.
struct Shared<'l> {
    first: (&'l str, usize),
    other: (&'l str, usize),
}

impl<'l> EntryCodes<'l> {
    /// Collects the codes of an entry that some versions have.
    pub(super) fn new(
        name: &'l str,
        entries: Sides<Option<&'l LayoutEntry<'l>>>,
        is_agreed: bool,
    ) -> Self {
        let merged = |codes: Sides<Vec<&'l str>>| match (&codes.ours[..], &codes.theirs[..]) {
            _ if !is_agreed => Vec::new(),
            ([], one) | (one, []) => one.to_vec(),
            _ => codes.items(),
        };
        let of_sides = entries.map(codes);
        let set = |codes: &Vec<&'l str>| codes.iter().copied().collect();
        Self {
            name,
            ours: set(&of_sides.ours),
            theirs: set(&of_sides.theirs),
            merged: merged(of_sides),
            custom: merged(entries.map(custom_codes)),
        }
    }
}

/// Returns the entries that would get a code which another entry has on the other side, by number, with
/// descriptions of the conflicts; `cases` is whether case counts in each version.
pub(super) fn clashes(entries: &[EntryCodes<'_>], cases: Sides<Case>) -> BTreeMap<usize, String> {
    // Of the reasons for many codes shared by two entries, the last counts.
    let mut clashes = BTreeMap::new();
    if cases.settled() == Some(Case::Fold) {
        clashes.extend(
            alike(entries)
                .iter()
                .filter_map(|it| it.clash(entries, cases)),
        );
    }
    clashes.extend(
        same(entries)
            .iter()
            .filter_map(|it| it.clash(entries, cases)),
    );
    clashes
}

impl Shared<'_> {
    /// Returns the number of the entry that is new, and a description; `None` if this merge is not the cause.
    fn clash(&self, entries: &[EntryCodes<'_>], cases: Sides<Case>) -> Option<(usize, String)> {
        let [(first, first_entry), (other, other_entry)] = [self.first, self.other];
        let on_sides = |code, entry: usize| {
            let entry = &entries[entry];
            [&entry.ours, &entry.theirs].map(|codes| codes.contains(code))
        };
        let of_first = on_sides(first, first_entry);
        let of_other = on_sides(other, other_entry);
        let is_same = first == other;
        let is_known = |side: usize, case: Case| {
            of_first[side] && of_other[side] && (is_same || case == Case::Fold)
        };
        if is_known(0, cases.ours) || is_known(1, cases.theirs) {
            return None;
        }
        let is_first_new = of_other == [true; 2] || of_first != [true; 2] && of_other[0];
        let (new, code, old, known) = match is_first_new {
            true => (first_entry, first, other_entry, other),
            false => (other_entry, other, first_entry, first),
        };
        let why = if is_same {
            let name = entries[old].name;
            format!("the code {code:?} is given to two entries, this one and {name:?}")
        } else if new == old {
            format!("the codes {known:?} and {code:?} of this entry differ only in case")
        } else {
            format!("the code {code:?} differs only in case from {known:?} of another entry")
        };
        Some((new, why))
    }
}

/// Returns the codes on one side, starting with the entry's own.
fn codes<'l>(entry: Option<&'l LayoutEntry<'l>>) -> Vec<&'l str> {
    let own = entry.map(|entry| entry.code.as_str());
    own.into_iter().chain(aliases(entry)).collect()
}

fn custom_codes<'l>(entry: Option<&'l LayoutEntry<'l>>) -> Vec<&'l str> {
    let is_custom = |it: &&LayoutEntry<'_>| it.pairs.iter().any(|pair| pair.key == "short-code");
    let own = entry.filter(is_custom).map(|entry| entry.code.as_str());
    own.into_iter().chain(aliases(entry)).collect()
}

fn aliases<'l>(entry: Option<&'l LayoutEntry<'l>>) -> impl Iterator<Item = &'l str> {
    let pairs = entry.into_iter().flat_map(|entry| &entry.pairs);
    let aliases = pairs.filter(|pair| pair.key == "aliases");
    aliases.flat_map(|pair| pair.values.iter().map(|value| &*value.text))
}

/// Returns each code that two entries have.
fn same<'l>(entries: &[EntryCodes<'l>]) -> Vec<Shared<'l>> {
    let mut holders = HashMap::new();
    let mut shared = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        for &code in &entry.merged {
            let holder = *holders.entry(code).or_insert(number);
            if holder != number {
                let (first, other) = ((code, holder), (code, number));
                shared.push(Shared { first, other });
            }
        }
    }
    shared
}

/// Returns the codes that differ only in case from an earlier one, with that.
fn alike<'l>(entries: &[EntryCodes<'l>]) -> Vec<Shared<'l>> {
    let mut holders = HashMap::new();
    let mut shared = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        for &code in &entry.custom {
            let other = (code, number);
            let first = *holders.entry(fold_case(code)).or_insert(other);
            if first.0 != code {
                shared.push(Shared { first, other });
            }
        }
    }
    shared
}
