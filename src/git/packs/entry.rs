//! The entries of a pack: their heads, and the compressed bytes after them.

use std::io::{self, Read, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use git2::{ObjectType, Oid};

use super::pack_error::PackError;

/// The maximum number of bytes of a head: of its size, then of an id or a distance.
pub(super) const MAX_HEAD: usize = 10 + 20;

const OFFSET_DELTA: u8 = 6;
const ID_DELTA: u8 = 7;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// An object.
    Whole(ObjectType),
    /// A delta to the entry so many bytes before it.
    OffsetDelta(u64),
    /// A delta to an object.
    IdDelta(Oid),
}

/// The head of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryHead {
    pub(super) kind: EntryKind,
    /// The size of the uncompressed content.
    pub(super) size: u64,
    /// The length of the head itself.
    pub(super) length: usize,
}

impl EntryHead {
    /// Parses the head at the beginning of some bytes.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, PackError> {
        let cut = || PackError::Damaged("an entry that is cut");
        let mut rest = bytes.iter().copied();
        let mut next = || rest.next().ok_or_else(cut);
        let mut byte = next()?;
        let mut length = 1;
        let number = byte >> 4 & 7;
        let mut size = u64::from(byte & 15);
        let mut shift = 4;
        while byte & 0x80 != 0 {
            byte = next()?;
            length += 1;
            if shift > 57 {
                return Err(PackError::Damaged("an entry with an endless size"));
            }
            size |= u64::from(byte & 0x7F) << shift;
            shift += 7;
        }
        let kind = match number {
            1 => EntryKind::Whole(ObjectType::Commit),
            2 => EntryKind::Whole(ObjectType::Tree),
            3 => EntryKind::Whole(ObjectType::Blob),
            4 => EntryKind::Whole(ObjectType::Tag),
            OFFSET_DELTA => {
                let mut byte = next()?;
                length += 1;
                let mut distance = u64::from(byte & 0x7F);
                while byte & 0x80 != 0 {
                    byte = next()?;
                    length += 1;
                    distance = (distance.checked_add(1))
                        .filter(|it| *it < 1 << 56)
                        .ok_or(PackError::Damaged("a delta with an endless distance"))?;
                    distance = distance << 7 | u64::from(byte & 0x7F);
                }
                EntryKind::OffsetDelta(distance)
            }
            ID_DELTA => {
                let id = bytes.get(length..length + 20).ok_or_else(cut)?;
                length += 20;
                EntryKind::IdDelta(Oid::from_bytes(id)?)
            }
            _ => return Err(PackError::Damaged("an entry of an unknown kind")),
        };
        Ok(Self { kind, size, length })
    }
}

/// Returns the head of an entry; `size` is that of the uncompressed content.
pub(super) fn head(kind: EntryKind, size: u64) -> Vec<u8> {
    let number = match kind {
        EntryKind::Whole(ObjectType::Commit) => 1,
        EntryKind::Whole(ObjectType::Tree) => 2,
        EntryKind::Whole(ObjectType::Tag) => 4,
        EntryKind::Whole(_) => 3,
        EntryKind::OffsetDelta(_) => OFFSET_DELTA,
        EntryKind::IdDelta(_) => ID_DELTA,
    };
    let mut bytes = Vec::with_capacity(MAX_HEAD);
    let mut rest = size >> 4;
    let mut byte = number << 4 | (size & 15) as u8;
    while rest > 0 {
        bytes.push(byte | 0x80);
        byte = (rest & 0x7F) as u8;
        rest >>= 7;
    }
    bytes.push(byte);
    match kind {
        EntryKind::Whole(_) => {}
        EntryKind::OffsetDelta(distance) => {
            let mut reversed = vec![(distance & 0x7F) as u8];
            let mut rest = distance >> 7;
            while rest > 0 {
                rest -= 1;
                reversed.push((rest & 0x7F) as u8 | 0x80);
                rest >>= 7;
            }
            bytes.extend(reversed.iter().rev());
        }
        EntryKind::IdDelta(id) => bytes.extend_from_slice(id.as_bytes()),
    }
    bytes
}

/// Inflates bytes to a known size.
pub(super) fn inflate(bytes: impl Read, size: u64) -> Result<Vec<u8>, PackError> {
    let mut inflated = Vec::new();
    let capacity = usize::try_from(size).map_err(|_| PackError::TooLarge(size))?;
    (inflated.try_reserve_exact(capacity)).map_err(|_| PackError::TooLarge(size))?;
    let mut decoder = ZlibDecoder::new(bytes).take(size.saturating_add(1));
    (decoder.read_to_end(&mut inflated)).map_err(|_| PackError::Damaged("not compressed"))?;
    match inflated.len() as u64 == size {
        true => Ok(inflated),
        false => Err(PackError::Damaged("an entry of another size")),
    }
}

/// Compresses bytes.
pub(super) fn deflate(bytes: &[u8]) -> Result<Vec<u8>, PackError> {
    Ok(deflated(bytes, Compression::default())?)
}

/// The level of compression that takes little time: with the first one, a table takes two thirds of that
/// time, and 40 % more bytes.
const FAST: u32 = 2;

/// Compresses bytes in little time.
///
/// # Errors
///
/// If memory is short.
pub(crate) fn deflate_fast(bytes: &[u8]) -> io::Result<Vec<u8>> {
    deflated(bytes, Compression::new(FAST))
}

fn deflated(bytes: &[u8], level: Compression) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), level);
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_they_were_written() {
        for size in [0, 15, 16, 2_047, 2_048, 84_000_000, 1 << 40] {
            let distances = [1, 127, 128, 16_511, 1 << 33];
            let deltas = distances.map(EntryKind::OffsetDelta).into_iter();
            let others = [
                EntryKind::Whole(ObjectType::Tree),
                EntryKind::IdDelta(Oid::from_bytes(&[7; 20]).unwrap()),
            ];
            for kind in deltas.chain(others) {
                let bytes = head(kind, size);
                let read = EntryHead::parse(&bytes).unwrap();
                let length = bytes.len();
                assert_eq!(read, EntryHead { kind, size, length });
            }
        }
    }

    #[test]
    fn refuses_what_is_no_head() {
        for bytes in [&[0xFF; 40][..], &[], &[0x80], &[0x00], &[0x50], &[0x70, 1]] {
            assert!(EntryHead::parse(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn inflates_to_the_size_that_was_announced() {
        let bytes = deflate(b"abc").unwrap();
        assert_eq!(inflate(&bytes[..], 3).unwrap(), b"abc");
        assert!(inflate(&bytes[..], 2).is_err() && inflate(&bytes[..], 4).is_err());
        assert!(inflate(&b"abc"[..], 3).is_err());
    }
}
