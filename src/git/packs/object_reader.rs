//! Objects read one after the other that are versions of the same files, as past commits have them.
//!
//! Versions are stored as chains of deltas. The objects that were read last and the deltas between them
//! are kept, so that each further version takes one delta, in whichever direction the chain leads. As in
//! Git itself, what is read from a pack is verified by the checksum of each compressed part, and not by
//! the id of the object: its hash would take longer than all else.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use git2::{ObjectType, Oid};

use super::delta::{Delta, MAX_STEPS};
use super::local_packs::{LocalPacks, StoredEntry};
use super::pack_error::PackError;

/// The size of the objects of one kind from which only the last ones are kept, in bytes.
const MAX_KEPT: usize = 32 << 20;

/// The number of objects of one kind that are always kept: the end of a chain of deltas, and the last
/// version.
const MIN_KEPT: usize = 2;

/// The size of the deltas that are kept, in bytes.
const MAX_DELTAS: usize = 16 << 20;

/// The longest chain of deltas that is followed; Git makes none longer than 4095.
const MAX_CHAIN: u32 = 4095;

/// A reader of the objects in the packs of a repository.
pub(crate) struct ObjectReader {
    packs: LocalPacks,
    blobs: KeptObjects,
    trees: KeptObjects,
    deltas: HashMap<EntryPlace, Rc<Delta>>,
    delta_bytes: usize,
}

/// The place of an entry: the number of its pack, and where its compressed bytes begin.
type EntryPlace = (usize, u64);

/// The objects of one kind that were read or used last.
#[derive(Default)]
struct KeptObjects {
    known: HashMap<EntryPlace, KeptObject>,
    bytes: usize,
    uses: u64,
}

struct KeptObject {
    bytes: Rc<Vec<u8>>,
    last_use: u64,
}

impl ObjectReader {
    /// Opens the packs in a directory; `None` if there are too many, or their indexes are too large.
    ///
    /// # Errors
    ///
    /// If a pack is damaged, or the system fails.
    pub(crate) fn open(directory: &Path) -> Result<Option<Self>, PackError> {
        Ok(LocalPacks::open_few(directory)?.map(|packs| Self {
            packs,
            blobs: KeptObjects::default(),
            trees: KeptObjects::default(),
            deltas: HashMap::new(),
            delta_bytes: 0,
        }))
    }

    /// Reads a blob of at most `max` bytes; `None` if the packs have no such blob.
    ///
    /// # Errors
    ///
    /// If it is larger or damaged, or the system fails.
    pub(crate) fn blob(&mut self, id: Oid, max: u64) -> Result<Option<Rc<Vec<u8>>>, PackError> {
        self.read(id, ObjectType::Blob, max)
    }

    /// Reads a tree of at most `max` bytes, in the form of `git cat-file tree`; `None` if the packs have no
    /// such tree.
    ///
    /// # Errors
    ///
    /// If it is larger or damaged, or the system fails.
    pub(crate) fn tree(&mut self, id: Oid, max: u64) -> Result<Option<Rc<Vec<u8>>>, PackError> {
        self.read(id, ObjectType::Tree, max)
    }

    fn read(
        &mut self,
        id: Oid,
        kind: ObjectType,
        max: u64,
    ) -> Result<Option<Rc<Vec<u8>>>, PackError> {
        let Some(stored) = self.packs.find(id)? else {
            return Ok(None);
        };
        let place = stored.place();
        let mut at = stored;
        let mut delta: Option<Rc<Delta>> = None;
        let mut length = 0;
        let end = loop {
            if let Some(known) = self.kept(kind).used(at.place()) {
                break known;
            }
            let Some(base) = self.packs.base_of(&at)? else {
                if self.packs.kind_of(&at)? != kind {
                    return Ok(None);
                }
                let bytes = Rc::new(self.packs.inflated(&at, max)?);
                self.kept(kind).insert(at.place(), Rc::clone(&bytes));
                break bytes;
            };
            length += 1;
            if length > MAX_CHAIN {
                return Err(PackError::Damaged("deltas without end"));
            }
            let step = self.delta(&at, max)?;
            delta = Some(match delta {
                None => step,
                Some(next) => Rc::new(step.then_within(&next, MAX_STEPS)?),
            });
            at = base;
        };
        let Some(delta) = delta else {
            return Ok(Some(end));
        };
        let object = Rc::new(delta.apply(&end)?);
        self.kept(kind).insert(place, Rc::clone(&object));
        Ok(Some(object))
    }

    fn delta(&mut self, stored: &StoredEntry, max: u64) -> Result<Rc<Delta>, PackError> {
        if let Some(known) = self.deltas.get(&stored.place()) {
            return Ok(Rc::clone(known));
        }
        let delta = Rc::new(Delta::parse(&self.packs.inflated(stored, max)?, max)?);
        self.delta_bytes += delta.heap_bytes();
        if self.delta_bytes > MAX_DELTAS {
            self.deltas.clear();
            self.delta_bytes = delta.heap_bytes();
        }
        self.deltas.insert(stored.place(), Rc::clone(&delta));
        Ok(delta)
    }

    fn kept(&mut self, kind: ObjectType) -> &mut KeptObjects {
        match kind {
            ObjectType::Tree => &mut self.trees,
            _ => &mut self.blobs,
        }
    }
}

impl KeptObjects {
    fn used(&mut self, place: EntryPlace) -> Option<Rc<Vec<u8>>> {
        self.uses += 1;
        let known = self.known.get_mut(&place)?;
        known.last_use = self.uses;
        Some(Rc::clone(&known.bytes))
    }

    fn insert(&mut self, place: EntryPlace, bytes: Rc<Vec<u8>>) {
        self.uses += 1;
        self.bytes += bytes.len();
        let last_use = self.uses;
        self.known.insert(place, KeptObject { bytes, last_use });
        while self.bytes > MAX_KEPT && self.known.len() > MIN_KEPT {
            let oldest = self.known.iter().min_by_key(|(_, it)| it.last_use);
            let Some(place) = oldest.map(|(place, _)| *place) else {
                return;
            };
            let dropped = self.known.remove(&place);
            self.bytes -= dropped.map_or(0, |it| it.bytes.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use git2::Repository;

    use super::*;

    /// Makes a repository with so many versions of a file in a directory of many files, in one pack.
    fn repository(versions: usize) -> (tempfile::TempDir, Repository) {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(directory.path()).unwrap();
        let mut lines: Vec<_> = (0..2_000).map(|n| format!("line {n}\n")).collect();
        let mut parents = Vec::new();
        let me = git2::Signature::new("a", "a@example.org", &git2::Time::new(0, 0)).unwrap();
        for version in 0..versions {
            lines[version * 7 % 2_000] = format!("changed in version {version}\n");
            let blob = repository.blob(lines.concat().as_bytes()).unwrap();
            let mut tree = repository.treebuilder(None).unwrap();
            for other in 0..200 {
                let text = format!("{other} in {}", version * 200 / (other + 1) / versions);
                let text = repository.blob(text.as_bytes()).unwrap();
                let name = format!("{other}.yaml");
                tree.insert(name, text, 0o100_644).unwrap();
            }
            tree.insert("table.yaml", blob, 0o100_644).unwrap();
            let tree = repository.find_tree(tree.write().unwrap()).unwrap();
            let parent: Vec<_> = parents.iter().collect();
            let commit = repository.commit(Some("HEAD"), &me, &me, "", &tree, &parent);
            parents = vec![repository.find_commit(commit.unwrap()).unwrap()];
        }
        drop(parents);
        let done = Command::new("git")
            .current_dir(directory.path())
            .args(["-c", "safe.directory=*", "repack", "-adfq", "--depth=50"])
            .status();
        assert!(done.unwrap().success());
        (directory, repository)
    }

    #[test]
    fn objects_are_those_that_git_reads() {
        let (directory, repository) = repository(120);
        let packs = directory.path().join("objects/pack");
        let mut reader = ObjectReader::open(&packs).unwrap().unwrap();
        let mut walk = repository.revwalk().unwrap();
        walk.push_head().unwrap();
        let mut commits: Vec<_> = walk.map(Result::unwrap).collect();
        let odb = repository.odb().unwrap();
        for _ in 0..2 {
            for commit in &commits {
                let tree = repository.find_commit(*commit).unwrap().tree().unwrap();
                let read = reader.tree(tree.id(), 1 << 20).unwrap().unwrap();
                assert_eq!(*read, odb.read(tree.id()).unwrap().data());
                let blob = tree.get_name("table.yaml").unwrap().id();
                let read = reader.blob(blob, 1 << 20).unwrap().unwrap();
                assert_eq!(*read, odb.read(blob).unwrap().data());
            }
            // In the other direction, with nothing known.
            commits.reverse();
            reader = ObjectReader::open(&packs).unwrap().unwrap();
        }
        assert!(commits.len() == 120 && reader.deltas.is_empty());
    }

    #[test]
    fn an_object_of_another_kind_or_size_is_not_read() {
        let (directory, repository) = repository(3);
        let packs = directory.path().join("objects/pack");
        let mut reader = ObjectReader::open(&packs).unwrap().unwrap();
        let commit = repository.head().unwrap().peel_to_commit().unwrap();
        let tree = commit.tree().unwrap();
        let blob = tree.get_name("table.yaml").unwrap().id();
        assert!(reader.blob(tree.id(), 1 << 20).unwrap().is_none());
        assert!(reader.tree(blob, 1 << 20).unwrap().is_none());
        assert!(reader.blob(commit.id(), 1 << 20).unwrap().is_none());
        assert!(reader.blob(Oid::ZERO_SHA1, 1 << 20).unwrap().is_none());
        assert!(matches!(
            reader.blob(blob, 1_000),
            Err(PackError::TooLarge(_))
        ));
    }

    #[test]
    fn keeps_what_was_used_last() {
        let mut kept = KeptObjects::default();
        let large = Rc::new(vec![0; MAX_KEPT / 2 + 1]);
        kept.insert((0, 0), Rc::clone(&large));
        kept.insert((0, 1), Rc::clone(&large));
        assert!(kept.used((0, 0)).is_some());
        kept.insert((0, 2), Rc::clone(&large));
        assert!(kept.used((0, 1)).is_none());
        assert!(kept.used((0, 0)).is_some() && kept.used((0, 2)).is_some());
        kept.insert((0, 3), Rc::default());
        kept.insert((0, 4), large);
        assert_eq!(kept.known.len(), 2);
    }
}
