//! Gaps: where to look in a site for something that is gone from it.
//!
//! That is where its target is now, under another code; otherwise where its next neighbour is;
//! otherwise the top of its file.

use std::collections::HashMap;
use std::sync::Arc;

use crate::mapping::packed::{Catalogue, Entry, Table};
use crate::mapping::value::{Place, Position};

/// The entries that replace those of an old site.
pub(crate) struct Gap<'t> {
    files: &'t [Arc<str>],
    /// New entries by their targets; of several, the first as written.
    successors: HashMap<(&'t str, &'t str), Entry<'t>>,
    /// The new entry that was closest to an old one in its file, by the old one's number.
    neighbours: HashMap<u32, Entry<'t>>,
}

impl<'t> Gap<'t> {
    /// Compares a site as it was with the same site in a table.
    pub(crate) fn new(old: &Catalogue<'t>, new: &Catalogue<'t>, table: &'t Table) -> Self {
        let mut successors = HashMap::new();
        for entry in new.entries() {
            let Some(target) = entry.target_parts() else {
                continue;
            };
            let first = successors.entry(target).or_insert(entry);
            if entry.written() < first.written() {
                *first = entry;
            }
        }
        let mut entries: Vec<_> = old.entries().collect();
        entries.sort_unstable_by_key(Entry::written);
        let mut neighbours = HashMap::new();
        let files = entries.chunk_by(|one, other| one.shape().file == other.shape().file);
        for entries in files {
            let survivors = entries.iter().map(|&entry| {
                let survivor = old.codes(entry).find_map(|code| new.lookup(&code));
                (entry.number(), survivor)
            });
            let survivors: Vec<_> = survivors.collect();
            note(survivors.iter(), &mut neighbours);
            // A following entry is a better landmark than a preceding one.
            note(survivors.iter().rev(), &mut neighbours);
        }
        Self {
            files: table.files(),
            successors,
            neighbours,
        }
    }

    /// Returns the entry that has the target of an old one.
    pub(super) fn successor(&self, old: Entry<'t>) -> Option<Entry<'t>> {
        self.successors.get(&old.target_parts()?).copied()
    }

    /// Returns the place to look at for an old entry.
    pub(crate) fn place(&self, old: Entry<'t>) -> Place {
        let known = self.successor(old);
        if let Some(entry) = known.or_else(|| self.neighbours.get(&old.number()).copied()) {
            return entry.place();
        }
        let file = old.place().file;
        let is_there = self.files.contains(&file);
        Place::new(
            if is_there { &file } else { &self.files[0] },
            Position::START,
        )
    }
}

/// Records, for each entry, the last one that survived so far.
fn note<'n, 't: 'n>(
    survivors: impl Iterator<Item = &'n (u32, Option<Entry<'t>>)>,
    neighbours: &mut HashMap<u32, Entry<'t>>,
) {
    let mut last = None;
    for &(number, survivor) in survivors {
        last = survivor.or(last);
        neighbours.extend(last.map(|last| (number, last)));
    }
}
