//! Completing a received pack with the local objects to which its deltas refer.
//!
//! An object that is stored whole here is copied as it is stored. A delta to one that is itself stored
//! as a delta is made one to the object at the end of those, so that deltas never become long chains.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use git2::{ObjectType, Oid};

use super::delta::Delta;
use super::entry::{EntryKind, deflate, inflate};
use super::local_packs::{FileRange, LocalPacks, pack_names};
use super::pack_error::PackError;
use super::pack_writer::{CompressedBytes, Durability, NewPackEntry, write_pack};
use super::received::{ReceivedEntry, ReceivedPack};

/// The size of the largest received object that is kept for the next one, in bytes.
const MAX_KEPT: usize = 32 << 20;

/// Writes a complete pack into the directory of packs, through a temporary file `aside`. Returns
/// whether the objects that it lacks were found in packs there; otherwise nothing is written.
///
/// # Errors
///
/// If a pack is damaged, an object has more than `max` bytes, or the system fails.
pub(crate) fn complete(
    received: &ReceivedPack,
    directory: &Path,
    aside: &Path,
    max: u64,
) -> Result<bool, PackError> {
    let local = LocalPacks::open(directory, &pack_names(directory)?)?;
    let mut completion = Completion {
        received,
        local: &local,
        max,
        resolved: HashMap::new(),
        ids: HashMap::new(),
        bases: HashMap::new(),
        planned: Vec::new(),
        base: None,
        built: Vec::new(),
    };
    if !completion.resolve()? {
        return Ok(false);
    }
    write_pack(aside, &completion.planned, Durability::Buffered)?.install()?;
    Ok(true)
}

struct Completion<'p> {
    received: &'p ReceivedPack,
    local: &'p LocalPacks,
    max: u64,
    /// The objects of the received entries, by their positions.
    resolved: HashMap<u64, (Oid, ObjectType, usize)>,
    /// The positions of the received objects, and `None` for local ones.
    ids: HashMap<Oid, Option<u64>>,
    /// Where the bases of received entries were found, by the positions of those. Each base was
    /// resolved before the objects built on it, so there are no cycles, whatever was received.
    bases: HashMap<u64, BasePlace>,
    planned: Vec<NewPackEntry<'p>>,
    /// The last local object that was read.
    base: Option<(Oid, Vec<u8>)>,
    /// The received objects that were built last, one of each kind.
    built: Vec<BuiltObject>,
}

/// A received object that was a delta.
struct BuiltObject {
    /// The number of its entry.
    index: usize,
    kind: ObjectType,
    bytes: Rc<Vec<u8>>,
}

/// Where the base of a delta is.
#[derive(Debug, Clone, Copy)]
enum BasePlace {
    Received(u64),
    Local(Oid),
}

impl<'p> Completion<'p> {
    /// Plans all entries. Returns whether each base was found.
    fn resolve(&mut self) -> Result<bool, PackError> {
        let mut pending: Vec<usize> = (0..self.received.entries.len()).collect();
        while !pending.is_empty() {
            let before = pending.len();
            let mut deferred = Vec::new();
            for index in pending {
                if !self.plan(index)? {
                    deferred.push(index);
                }
            }
            pending = deferred;
            if pending.len() == before {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Plans an entry. Returns whether its base is known yet.
    fn plan(&mut self, index: usize) -> Result<bool, PackError> {
        let received = self.received;
        let entry = &received.entries[index];
        if entry.head.size > self.max {
            return Err(PackError::TooLarge(entry.head.size));
        }
        let stored = (self.stored(entry), entry.head.size);
        let place = match entry.head.kind {
            EntryKind::Whole(kind) => {
                let object = self.inflated(entry)?;
                return self.add(index, kind, None, stored, &object);
            }
            EntryKind::OffsetDelta(distance) => (entry.position.checked_sub(distance))
                .filter(|at| self.resolved.contains_key(at))
                .map(BasePlace::Received),
            EntryKind::IdDelta(base) => self.place_of(base),
        };
        let Some(place) = place else {
            return Ok(false);
        };
        self.bases.insert(entry.position, place);
        let (kind, base, content) = match place {
            BasePlace::Received(at) => {
                let (base, kind, _) = self.resolved[&at];
                (kind, base, stored)
            }
            BasePlace::Local(base) => self.rebased(entry, base)?,
        };
        let object = self.object(index)?;
        self.add(index, kind, Some(base), content, &object)?;
        self.keep(index, kind, object);
        Ok(true)
    }

    fn place_of(&self, id: Oid) -> Option<BasePlace> {
        match self.ids.get(&id) {
            Some(Some(position)) => Some(BasePlace::Received(*position)),
            Some(None) => Some(BasePlace::Local(id)),
            None => self.local.have(id).then_some(BasePlace::Local(id)),
        }
    }

    /// Converts a delta on a local object to one on an object that is stored whole.
    fn rebased(
        &mut self,
        entry: &'p ReceivedEntry,
        base: Oid,
    ) -> Result<(ObjectType, Oid, (CompressedBytes<'p>, u64)), PackError> {
        let missing = || PackError::Damaged("a delta without its base");
        let (_, stored) = self.local.best(base)?.ok_or_else(missing)?;
        let root = self.local.root(base, stored, self.max)?;
        if self.base.as_ref().is_none_or(|(id, _)| *id != base) {
            self.base = Some((base, self.local.read(&root, self.max)?));
        }
        if let std::collections::hash_map::Entry::Vacant(new) = self.ids.entry(root.id) {
            new.insert(None);
            self.planned.push(NewPackEntry {
                id: root.id,
                kind: root.kind(),
                base: None,
                size: root.stored.head.size,
                content: CompressedBytes::Stored(
                    self.local.file_of(&root.stored),
                    root.stored.compressed.clone(),
                ),
            });
        }
        let kind = root.kind();
        Ok(match root.delta {
            None => (kind, root.id, (self.stored(entry), entry.head.size)),
            Some(first) => {
                let whole = first.then(&self.delta(entry)?).map_err(PackError::received);
                let whole = whole?.to_bytes();
                let content = CompressedBytes::Bytes(deflate(&whole)?);
                (kind, root.id, (content, whole.len() as u64))
            }
        })
    }

    fn add(
        &mut self,
        index: usize,
        kind: ObjectType,
        base: Option<Oid>,
        (content, size): (CompressedBytes<'p>, u64),
        object: &[u8],
    ) -> Result<bool, PackError> {
        let id = Oid::hash_object(kind, object)?;
        let position = self.received.entries[index].position;
        self.resolved.insert(position, (id, kind, index));
        let known = self.ids.insert(id, Some(position)).is_some();
        if !known {
            self.planned.push(NewPackEntry {
                id,
                kind,
                base,
                size,
                content,
            });
        }
        Ok(true)
    }

    /// Builds the object of an entry whose base is known.
    fn object(&mut self, index: usize) -> Result<Rc<Vec<u8>>, PackError> {
        let received = self.received;
        let mut deltas = Vec::new();
        let mut at = index;
        let mut object = loop {
            if let Some(built) = self.built.iter().find(|it| it.index == at) {
                break Rc::clone(&built.bytes);
            }
            let entry = &received.entries[at];
            let Some(&base) = self.bases.get(&entry.position) else {
                break Rc::new(self.inflated(entry)?);
            };
            deltas.push(self.delta(entry)?);
            match base {
                BasePlace::Received(position) => at = self.resolved[&position].2,
                BasePlace::Local(base) => break Rc::new(self.read_local(base)?),
            }
        };
        for delta in deltas.iter().rev() {
            object = Rc::new(delta.apply(&object).map_err(PackError::received)?);
        }
        Ok(object)
    }

    /// Keeps the last object of each kind, so that a chain of deltas takes one more for each object.
    fn keep(&mut self, index: usize, kind: ObjectType, bytes: Rc<Vec<u8>>) {
        self.built.retain(|it| it.kind != kind);
        if bytes.len() <= MAX_KEPT {
            self.built.push(BuiltObject { index, kind, bytes });
        }
    }

    fn read_local(&mut self, id: Oid) -> Result<Vec<u8>, PackError> {
        if let Some((_, bytes)) = self.base.take_if(|(known, _)| *known == id) {
            return Ok(bytes);
        }
        let missing = || PackError::Damaged("a delta without its base");
        let (_, stored) = self.local.best(id)?.ok_or_else(missing)?;
        let root = self.local.root(id, stored, self.max)?;
        self.local.read(&root, self.max)
    }

    fn delta(&self, entry: &ReceivedEntry) -> Result<Delta, PackError> {
        Delta::parse(&self.inflated(entry)?, self.max).map_err(PackError::received)
    }

    fn inflated(&self, entry: &ReceivedEntry) -> Result<Vec<u8>, PackError> {
        let range = FileRange::new(&self.received.file, entry.compressed.clone());
        inflate(range, entry.head.size).map_err(PackError::received)
    }

    fn stored(&self, entry: &ReceivedEntry) -> CompressedBytes<'p> {
        CompressedBytes::Stored(&self.received.file, entry.compressed.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use sha1::{Digest as _, Sha1};

    use super::super::entry::head;
    use super::*;

    /// Returns an entry that inflates to some bytes.
    fn entry(kind: EntryKind, bytes: &[u8]) -> Vec<u8> {
        [head(kind, bytes.len() as u64), deflate(bytes).unwrap()].concat()
    }

    /// Returns a delta that inserts all of a short text.
    fn delta(base: &[u8], text: &[u8]) -> Vec<u8> {
        let mut delta = Delta::between(base.len() as u64, text.len() as u64);
        delta.insert(text);
        delta.to_bytes()
    }

    /// Writes a pack with one blob.
    fn write_local(directory: &Path, text: &[u8]) -> Oid {
        let kind = ObjectType::Blob;
        let id = Oid::hash_object(kind, text).unwrap();
        let planned = NewPackEntry {
            id,
            kind,
            base: None,
            size: text.len() as u64,
            content: CompressedBytes::Bytes(deflate(text).unwrap()),
        };
        let aside = directory.join("aside");
        let written = write_pack(&aside, &[planned], Durability::Buffered).unwrap();
        written.install().unwrap();
        id
    }

    /// Completes a pack of these entries.
    fn complete_received(directory: &Path, entries: &[Vec<u8>]) -> Result<bool, PackError> {
        let count = (entries.len() as u32).to_be_bytes();
        let mut pack = [&b"PACK\0\0\0\x02"[..], &count, &entries.concat()].concat();
        pack.extend(Sha1::digest(&pack));
        let path = directory.join("received");
        fs::write(&path, pack).unwrap();
        let pack = ReceivedPack::read(fs::File::open(path).unwrap())?;
        complete(&pack, directory, &directory.join("other"), 1 << 20)
    }

    #[test]
    fn a_bad_delta_of_the_remote_is_no_damage_here() {
        let directory = tempfile::tempdir().unwrap();
        let id = write_local(directory.path(), b"here");
        let base = EntryKind::IdDelta(id);
        // To a longer base; copying beyond the base; no delta at all.
        let bad = [
            &delta(b"longer", b"text")[..],
            b"\x04\x04\x91\x02\x04",
            b"\0",
        ];
        for bytes in bad {
            let result = complete_received(directory.path(), &[entry(base, bytes)]);
            assert!(matches!(result, Err(PackError::Received(_))), "{result:?}");
        }
        assert_eq!(pack_names(directory.path()).unwrap().len(), 1);
    }

    #[test]
    fn a_long_chain_of_deltas_is_completed() {
        let directory = tempfile::tempdir().unwrap();
        let first = vec![b'0'; 300];
        let id = write_local(directory.path(), &first);
        let texts: Vec<_> = (1..=200_u8).map(|n| vec![n; 300]).collect();
        let mut entries = vec![entry(EntryKind::IdDelta(id), &delta(&first, &texts[0]))];
        for pair in texts.windows(2) {
            let distance = entries.last().unwrap().len() as u64;
            entries.push(entry(
                EntryKind::OffsetDelta(distance),
                &delta(&pair[0], &pair[1]),
            ));
        }
        assert!(complete_received(directory.path(), &entries).unwrap());
        let names = pack_names(directory.path()).unwrap();
        let all = LocalPacks::open(directory.path(), &names).unwrap();
        for text in texts {
            let id = Oid::hash_object(ObjectType::Blob, &text).unwrap();
            let (_, stored) = all.best(id).unwrap().unwrap();
            let root = all.root(id, stored, 1 << 20).unwrap();
            assert_eq!(all.read(&root, 1 << 20).unwrap(), text);
        }
    }

    #[test]
    fn objects_that_are_deltas_to_each_other_are_completed() {
        let directory = tempfile::tempdir().unwrap();
        let texts: [&[u8]; 3] = [b"here", b"received", b"another"];
        let [here, received, another] = texts;
        let ids = texts.map(|text| Oid::hash_object(ObjectType::Blob, text).unwrap());
        write_local(directory.path(), here);

        // The second is made of what is here, which is sent again as made of the second.
        let first = entry(EntryKind::IdDelta(ids[0]), &delta(here, received));
        let distance = EntryKind::OffsetDelta(first.len() as u64);
        let second = entry(distance, &delta(received, here));
        let distance = EntryKind::OffsetDelta((first.len() + second.len()) as u64);
        let third = entry(distance, &delta(received, another));
        let entries = [first, second, third];
        assert!(complete_received(directory.path(), &entries).unwrap());

        let names = pack_names(directory.path()).unwrap();
        assert_eq!(names.len(), 2);
        let all = LocalPacks::open(directory.path(), &names).unwrap();
        assert!(ids.iter().all(|id| all.have(*id)));
    }
}
