//! The index of a pack: which objects are in it, and where (gitformat-pack(5), version 2).

use std::fs;
use std::path::Path;

use git2::Oid;
use sha1::{Digest as _, Sha1};

use super::pack_error::PackError;

const MAGIC: [u8; 8] = [0xFF, b't', b'O', b'c', 0, 0, 0, 2];
const FAN: usize = 256;
const ID: usize = 20;

/// The index of a pack.
#[derive(Debug)]
pub(super) struct PackIndex {
    /// The objects, in the order of their ids, with their positions.
    entries: Vec<(Oid, u64)>,
    /// The positions, in order, with their objects.
    positions: Vec<(u64, Oid)>,
}

impl PackIndex {
    /// Reads the index in a file.
    pub(super) fn read(path: &Path) -> Result<Self, PackError> {
        let bytes = fs::read(path)?;
        let entries = Self::parse(&bytes).ok_or(PackError::Damaged("an index that is cut"))?;
        let mut positions: Vec<_> = entries
            .iter()
            .map(|(id, position)| (*position, *id))
            .collect();
        positions.sort_unstable();
        Ok(Self { entries, positions })
    }

    fn parse(bytes: &[u8]) -> Option<Vec<(Oid, u64)>> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let (fans, rest) = rest.split_at_checked(FAN * 4)?;
        let count = u32_at(fans, FAN - 1)? as usize;
        let (ids, rest) = rest.split_at_checked(count.checked_mul(ID)?)?;
        let (_, rest) = rest.split_at_checked(count.checked_mul(4)?)?;
        let (offsets, long) = rest.split_at_checked(count.checked_mul(4)?)?;
        (0..count)
            .map(|index| {
                let id = Oid::from_bytes(&ids[index * ID..(index + 1) * ID]).ok()?;
                let offset = u32_at(offsets, index)?;
                let position = match offset & 0x8000_0000 {
                    0 => u64::from(offset),
                    _ => {
                        let at = (offset & 0x7FFF_FFFF) as usize * 8;
                        u64::from_be_bytes(long.get(at..at + 8)?.try_into().ok()?)
                    }
                };
                Some((id, position))
            })
            .collect()
    }

    /// Returns the position of an object.
    pub(super) fn position(&self, id: Oid) -> Option<u64> {
        let found = self.entries.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.entries[found].1)
    }

    /// Returns the object at a position.
    pub(super) fn object_at(&self, position: u64) -> Option<Oid> {
        let found = self
            .positions
            .binary_search_by_key(&position, |(at, _)| *at);
        Some(self.positions[found.ok()?].1)
    }

    /// Returns where the entry after a position begins, if it is not the last.
    pub(super) fn next_position(&self, position: u64) -> Option<u64> {
        let after = self.positions.partition_point(|(at, _)| *at <= position);
        self.positions.get(after).map(|(at, _)| *at)
    }
}

fn u32_at(bytes: &[u8], index: usize) -> Option<u32> {
    let bytes = bytes.get(index * 4..index * 4 + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// An object in a pack that was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackIndexEntry {
    pub(super) id: Oid,
    pub(super) position: u64,
    pub(super) crc: u32,
}

/// Returns the index of a pack with these entries and this checksum.
pub(super) fn index_of(mut entries: Vec<PackIndexEntry>, checksum: &[u8]) -> Vec<u8> {
    entries.sort_unstable_by_key(|it| it.id);
    let mut bytes = MAGIC.to_vec();
    for first in 0..=u8::MAX {
        let until = entries.partition_point(|it| it.id.as_bytes()[0] <= first);
        bytes.extend((until as u32).to_be_bytes());
    }
    for entry in &entries {
        bytes.extend_from_slice(entry.id.as_bytes());
    }
    for entry in &entries {
        bytes.extend(entry.crc.to_be_bytes());
    }
    let mut long = Vec::new();
    for entry in &entries {
        let offset = match u32::try_from(entry.position)
            .ok()
            .filter(|it| *it < 1 << 31)
        {
            Some(offset) => offset,
            None => {
                long.extend(entry.position.to_be_bytes());
                0x8000_0000 | (long.len() / 8 - 1) as u32
            }
        };
        bytes.extend(offset.to_be_bytes());
    }
    bytes.extend(long);
    bytes.extend_from_slice(checksum);
    let sum = Sha1::digest(&bytes);
    bytes.extend_from_slice(&sum);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_it_was_written() {
        let id = |first: u8| Oid::from_bytes(&[first; 20]).unwrap();
        let entries = [(9, 12), (0, 5_000_000_000), (255, 300), (7, 1 << 31)];
        let written = entries.map(|(first, position)| PackIndexEntry {
            id: id(first),
            position,
            crc: 1,
        });
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, index_of(written.to_vec(), &[3; 20])).unwrap();
        let index = PackIndex::read(file.path()).unwrap();
        for (first, position) in entries {
            assert_eq!(index.position(id(first)), Some(position));
            assert_eq!(index.object_at(position), Some(id(first)));
        }
        assert_eq!(index.position(id(8)), None);
        assert_eq!(index.next_position(12), Some(300));
        assert_eq!(index.next_position(5_000_000_000), None);
        let bytes = fs::read(&file).unwrap();
        assert!(PackIndex::parse(&bytes[..1_100]).is_none());
    }
}
