//! A pack of new objects in which each is whole, which is compressed while it is sent.
//!
//! Invariant: what was sent is a complete pack only if the objects are in the server's own clone.

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::path::Path;

use super::object::NewObject;
use super::pack::place_in;
use crate::git::in_parallel;
use crate::git::packs::{EntryKind, PackFile, add_pack, deflate_fast};

/// How many objects are compressed before they are sent.
const TOGETHER: usize = 8;

/// A pack of new objects that needs no others.
pub(crate) struct WholePack {
    objects: Vec<NewObject>,
}

impl WholePack {
    pub(super) fn new(mut objects: Vec<NewObject>) -> Self {
        let mut known = HashSet::new();
        objects.retain(|object| known.insert(object.id));
        Self { objects }
    }

    /// Compresses the objects on all processors, and passes the pack to `send` in pieces. Before the last
    /// one, the pack is written to a bare repository of our own, where its objects appear in one step.
    ///
    /// # Errors
    ///
    /// If it cannot be written; then the last piece was not sent.
    pub(crate) fn send(&self, repository: &Path, mut send: impl FnMut(&[u8])) -> io::Result<()> {
        let mut pack = PackFile::new(Vec::new(), self.objects.len())?;
        let mut sent = 0;
        for objects in self.objects.chunks(TOGETHER) {
            let compressed = in_parallel(objects, |object| deflate_fast(&object.bytes));
            for (object, bytes) in objects.iter().zip(compressed) {
                let bytes = bytes?;
                let (kind, size) = (EntryKind::Whole(object.kind), object.bytes.len() as u64);
                pack.entry(object.id, kind, size, |pack| pack.write_all(&bytes))?;
            }
            send(&pack.so_far()[sent..]);
            sent = pack.so_far().len();
        }
        let finished = pack.finish()?;
        add_pack(&finished, &place_in(repository).1)?;
        send(&finished.out[sent..]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use git2::{ObjectType, Repository};

    use super::*;

    fn pack(count: usize) -> WholePack {
        let texts = (0..count).map(|number| number.to_string().into_bytes());
        let objects = texts.map(|text| NewObject::new(ObjectType::Blob, text, None));
        WholePack::new(objects.collect())
    }

    #[test]
    fn it_is_stored_before_its_end_is_sent() {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(directory.path()).unwrap();
        let pack = pack(3 * TOGETHER + 1);
        let mut pieces = Vec::new();
        let stored = || repository.odb().unwrap().exists(pack.objects[0].id);
        let sent = pack.send(repository.path(), |piece| {
            pieces.push((piece.to_vec(), stored()));
        });
        sent.unwrap();
        let are_stored: Vec<_> = pieces.iter().map(|(_, is_stored)| *is_stored).collect();
        assert_eq!(are_stored, [false, false, false, false, true]);
        let bytes: Vec<u8> = pieces.into_iter().flat_map(|(bytes, _)| bytes).collect();
        let packs = fs::read_dir(directory.path().join("objects/pack")).unwrap();
        let mut packs = packs.map(|it| it.unwrap().path());
        let own = packs.find(|path| path.extension().unwrap() == "pack");
        assert!(fs::read(own.unwrap()).unwrap() == bytes);
    }

    #[test]
    fn its_end_is_not_sent_if_it_cannot_be_stored() {
        let directory = tempfile::tempdir().unwrap();
        let mut bytes = Vec::new();
        let sent = pack(3).send(directory.path(), |piece| bytes.extend_from_slice(piece));
        sent.unwrap_err();
        // Without the checksum, which Git requires, each object would be there.
        let mut whole = Vec::new();
        let repository = Repository::init_bare(directory.path()).unwrap();
        let sent = pack(3).send(repository.path(), |piece| whole.extend_from_slice(piece));
        sent.unwrap();
        assert_eq!(bytes, whole[..whole.len() - 20]);
    }
}
