//! Gaps: the place in a site to which a report about something missing refers.
//!
//! It is the place of its target, under another code; otherwise that of its next neighbour;
//! otherwise the top of its file.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::mapping::packed::{Catalogue, Entry, Table};
use crate::mapping::value::{Place, Position};

/// The entries that replace those of an old site.
pub(crate) struct Gap<'p, 't> {
    files: &'t [Arc<str>],
    old: &'p Catalogue<'t>,
    new: &'p Catalogue<'t>,
    neighbours: OnceCell<Neighbours<'t>>,
}

/// The new entry that was closest to an old one in its file, by the old one's number.
type Neighbours<'t> = HashMap<u32, Entry<'t>>;

impl<'p, 't> Gap<'p, 't> {
    /// Compares a former version of a site with the one in a table.
    pub(crate) fn new(old: &'p Catalogue<'t>, new: &'p Catalogue<'t>, table: &'t Table) -> Self {
        Self {
            files: table.files(),
            old,
            new,
            neighbours: OnceCell::new(),
        }
    }

    /// Returns the entry that has the target of an old one; of several, the first as written.
    pub(super) fn successor(&self, old: Entry<'t>) -> Option<Entry<'t>> {
        let target = old.target()?;
        let leading = self.new.site()?.leading_to(&target);
        leading.into_iter().find(|entry| entry.has_target())
    }

    /// Returns the closest entry to an old one in its file that is still there.
    fn neighbour(&self, old: Entry<'t>) -> Option<Entry<'t>> {
        let neighbours = self.neighbours.get_or_init(|| self.neighbours());
        neighbours.get(&old.number()).copied()
    }

    fn neighbours(&self) -> Neighbours<'t> {
        let mut entries: Vec<_> = self.old.entries().collect();
        entries.sort_unstable_by_key(Entry::written);
        let mut neighbours = HashMap::new();
        let files = entries.chunk_by(|one, other| one.file() == other.file());
        for entries in files {
            let survivors = entries.iter().map(|&entry| {
                let survivor = self
                    .old
                    .codes(entry)
                    .find_map(|code| self.new.lookup(&code));
                (entry.number(), survivor)
            });
            let survivors: Vec<_> = survivors.collect();
            note(survivors.iter(), &mut neighbours);
            // A following entry is a better landmark than a preceding one.
            note(survivors.iter().rev(), &mut neighbours);
        }
        neighbours
    }

    /// Returns the place to report for an old entry.
    pub(crate) fn place(&self, old: Entry<'t>) -> Place {
        match self.successor(old) {
            Some(entry) => entry.place(),
            None => self.former_place(old),
        }
    }

    /// Returns the place where an old entry was.
    pub(super) fn former_place(&self, old: Entry<'t>) -> Place {
        if let Some(entry) = self.neighbour(old) {
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
