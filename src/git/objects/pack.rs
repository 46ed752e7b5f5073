//! Packs of new objects: thin ones, for a repository that has the previous objects, and whole ones.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::object::NewObject;
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
    let compressed = compressed(&objects)?;
    let mut pack = PackFile::new(Vec::new(), objects.len())?;
    for (object, bytes) in objects.iter().zip(compressed) {
        let (kind, size) = (EntryKind::Whole(object.kind), object.bytes.len() as u64);
        pack.entry(object.id, kind, size, |pack| pack.write_all(&bytes))?;
    }
    pack.finish()
}

/// Compresses objects, in a thread for each processor that the program may use.
fn compressed(objects: &[&NewObject<'_>]) -> io::Result<Vec<Vec<u8>>> {
    let compressed: Vec<_> = objects.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((object, place)) = objects.get(number).zip(compressed.get(number)) else {
                return;
            };
            place.get_or_init(|| deflate_fast(&object.bytes));
        }
    };
    thread::scope(|scope| {
        for _ in 1..thread::available_parallelism().map_or(1, usize::from) {
            // Without another thread, this one does all of it.
            let (Ok(_) | Err(_)) = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let compressed = compressed.into_iter().map(|place| {
        let bytes = place.into_inner();
        bytes.expect("each of them is compressed")
    });
    compressed.collect()
}
