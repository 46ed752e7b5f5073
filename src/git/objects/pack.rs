//! Packs of new objects: complete, for a repository of our own; and thin, for a repository that has
//! the previous objects.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::object::NewObject;
use crate::git::packs::{EntryKind, FinishedPack, PackFile};

/// What a pack may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackKind {
    /// To nothing outside it.
    Whole,
    /// To objects that the reader has: objects that are small as deltas are deltas.
    Thin,
}

/// Writes a pack of objects.
pub(super) fn write<W: Write>(
    objects: &[NewObject<'_>],
    pack_kind: PackKind,
    out: W,
) -> io::Result<FinishedPack<W>> {
    let mut pack = PackFile::new(out, objects.len())?;
    for object in objects {
        let (kind, bytes) = match object
            .delta
            .as_ref()
            .filter(|_| pack_kind == PackKind::Thin)
        {
            Some(delta) => (EntryKind::IdDelta(delta.base), &*delta.bytes),
            None => (EntryKind::Whole(object.kind), &*object.bytes),
        };
        pack.entry(object.id, kind, bytes.len() as u64, |pack| {
            compress(pack, bytes)
        })?;
    }
    pack.finish()
}

fn compress(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    // As fast as possible: the objects are soon packed again, or sent to the same machine.
    let mut encoder = ZlibEncoder::new(out, Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish().map(drop)
}
