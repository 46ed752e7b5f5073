//! Packs of new objects for a repository that has the previous objects, and where they are written.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::object::NewObject;
use crate::git::packs::{EntryKind, PackFile, deflate_fast};
use crate::git::random::random;

/// Writes a pack of objects, of which those that are small as deltas are deltas to objects that the
/// reader has.
pub(super) fn write_thin<W: Write>(objects: &[NewObject], out: W) -> io::Result<()> {
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

/// Returns the directory of packs of a repository, and a temporary name in it.
pub(super) fn place_in(repository: &Path) -> (PathBuf, PathBuf) {
    let packs = repository.join("objects/pack");
    // The leftovers of a killed process are found by this name, and removed.
    let aside = packs.join(format!("waypost_git2_{:016x}", random()));
    (packs, aside)
}
