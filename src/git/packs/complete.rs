//! Completing a received pack with the local objects to which its deltas refer.
//!
//! An object that is stored whole here is copied as it is stored. A delta to one that is itself stored
//! as a delta is made one to the object at the end of those, so that deltas never become long chains.

use std::collections::HashMap;
use std::path::Path;

use git2::{ObjectType, Oid};

use super::delta::Delta;
use super::entry::{EntryKind, deflate, inflate};
use super::local_packs::{FileRange, LocalPacks, pack_names};
use super::pack_error::PackError;
use super::pack_writer::{CompressedBytes, Durability, NewPackEntry, write_pack};
use super::received::{ReceivedEntry, ReceivedPack};

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
    };
    if !completion.resolve()? {
        return Ok(false);
    }
    let written = write_pack(aside, &completion.planned, Durability::Buffered)?;
    let installed = written.install();
    if installed.is_err() {
        written.discard();
    }
    installed?;
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
        self.add(index, kind, Some(base), content, &object)
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
                let whole = first
                    .then(&Delta::parse(&self.inflated(entry)?)?)?
                    .to_bytes();
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
    fn object(&mut self, index: usize) -> Result<Vec<u8>, PackError> {
        let received = self.received;
        let mut deltas = Vec::new();
        let mut at = index;
        let mut object = loop {
            let entry = &received.entries[at];
            let Some(&base) = self.bases.get(&entry.position) else {
                break self.inflated(entry)?;
            };
            deltas.push(self.delta(entry)?);
            match base {
                BasePlace::Received(position) => at = self.resolved[&position].2,
                BasePlace::Local(base) => break self.read_local(base)?,
            }
        };
        for delta in deltas.iter().rev() {
            object = delta.apply(&object)?;
        }
        Ok(object)
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
        let delta = Delta::parse(&self.inflated(entry)?)?;
        match delta.result_size() > self.max {
            true => Err(PackError::TooLarge(delta.result_size())),
            false => Ok(delta),
        }
    }

    fn inflated(&self, entry: &ReceivedEntry) -> Result<Vec<u8>, PackError> {
        let range = FileRange::new(&self.received.file, entry.compressed.clone());
        inflate(range, entry.head.size)
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

    #[test]
    fn objects_that_are_deltas_to_each_other_are_completed() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let texts: [&[u8]; 3] = [b"here", b"received", b"another"];
        let [here, received, another] = texts;
        let kind = ObjectType::Blob;
        let ids = texts.map(|text| Oid::hash_object(kind, text).unwrap());
        let planned = NewPackEntry {
            id: ids[0],
            kind,
            base: None,
            size: here.len() as u64,
            content: CompressedBytes::Bytes(deflate(here).unwrap()),
        };
        let written = write_pack(&at("aside"), &[planned], Durability::Buffered).unwrap();
        written.install().unwrap();

        // The second is made of what is here, which is sent again as made of the second.
        let first = entry(EntryKind::IdDelta(ids[0]), &delta(here, received));
        let distance = EntryKind::OffsetDelta(first.len() as u64);
        let second = entry(distance, &delta(received, here));
        let distance = EntryKind::OffsetDelta((first.len() + second.len()) as u64);
        let third = entry(distance, &delta(received, another));
        let mut pack = [&b"PACK\0\0\0\x02\0\0\0\x03"[..], &*first, &*second, &*third].concat();
        pack.extend(Sha1::digest(&pack));
        fs::write(at("received"), pack).unwrap();
        let pack = ReceivedPack::read(fs::File::open(at("received")).unwrap()).unwrap();
        assert!(complete(&pack, directory.path(), &at("other"), 1 << 20).unwrap());

        let names = pack_names(directory.path()).unwrap();
        assert_eq!(names.len(), 2);
        let all = LocalPacks::open(directory.path(), &names).unwrap();
        assert!(ids.iter().all(|id| all.have(*id)));
    }
}
