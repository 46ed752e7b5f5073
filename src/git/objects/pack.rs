//! Packs of new objects: thin ones, for a repository that has the previous objects, and whole ones.

use std::collections::HashSet;
use std::io::{self, Write};

use super::object::NewObject;
use crate::git::in_parallel;
use crate::git::packs::{EntryKind, FinishedPack, PackFile, deflate_fast};

/// Writes a pack of objects, of which those that are small as deltas are deltas to objects that the
/// reader has.
pub(super) fn write_thin<W: Write>(objects: &[NewObject<'_>], out: W) -> io::Result<()> {
    let mut pack = PackFile::new(out, objects.len())?;
    for object in objects {
        let (kind, bytes) = match &object.delta {
            Some(delta) => (EntryKind::IdDelta(delta.base), &*delta.bytes),
            None => (EntryKind::Whole(object.kind), &*object.bytes),
        };
        pack.entry(object.id, kind, bytes.len() as u64, |pack| {
            pack.write_all(&deflate_fast(bytes)?)
        })?;
    }
    pack.finish().map(drop)
}

/// Makes a pack of objects in which each is whole, in memory.
pub(super) fn whole(objects: &[NewObject<'_>]) -> io::Result<FinishedPack<Vec<u8>>> {
    let mut known = HashSet::new();
    let objects = objects.iter().filter(|object| known.insert(object.id));
    let objects: Vec<_> = objects.collect();
    let compressed = in_parallel(&objects, |object| deflate_fast(&object.bytes));
    let mut pack = PackFile::new(Vec::new(), objects.len())?;
    for (object, bytes) in objects.iter().zip(compressed) {
        let bytes = bytes?;
        let (kind, size) = (EntryKind::Whole(object.kind), object.bytes.len() as u64);
        pack.entry(object.id, kind, size, |pack| pack.write_all(&bytes))?;
    }
    pack.finish()
}
