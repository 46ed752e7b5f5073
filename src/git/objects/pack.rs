//! Thin packs of new objects, for a repository that has the previous objects.

use std::io::{self, Write};

use super::object::NewObject;
use crate::git::packs::{EntryKind, PackFile, deflate_fast};

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
