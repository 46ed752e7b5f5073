//! A received pack, which may refer to local objects that it does not contain.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use flate2::{Decompress, FlushDecompress, Status};
use sha1::{Digest as _, Sha1};

use super::entry::{EntryHead, EntryKind, MAX_HEAD};
use super::local_packs::FileRange;
use super::pack_error::PackError;

/// The length of the beginning of a pack.
const BEGINNING: usize = 12;

/// The length of the checksum at its end.
const CHECKSUM: u64 = 20;

/// A received pack.
#[derive(Debug)]
pub(crate) struct ReceivedPack {
    pub(super) file: File,
    pub(super) entries: Vec<ReceivedEntry>,
}

/// An entry of a received pack.
#[derive(Debug)]
pub(super) struct ReceivedEntry {
    pub(super) position: u64,
    pub(super) head: EntryHead,
    /// Where its compressed bytes are.
    pub(super) compressed: Range<u64>,
}

impl ReceivedPack {
    /// Reads the entries of a file, whose checksum must be correct.
    ///
    /// # Errors
    ///
    /// If this is not a pack.
    pub(crate) fn read(file: File) -> Result<Self, PackError> {
        Self::entries_of(file).map_err(PackError::received)
    }

    fn entries_of(file: File) -> Result<Self, PackError> {
        let cut = || PackError::Damaged("it is cut");
        let length = file.metadata()?.len();
        let end = (length.checked_sub(CHECKSUM))
            .filter(|end| *end >= BEGINNING as u64)
            .ok_or_else(cut)?;
        let mut beginning = [0; BEGINNING];
        file.read_exact_at(&mut beginning, 0)?;
        let count = match beginning.split_at(8) {
            (b"PACK\0\0\0\x02", count) => u32::from_be_bytes(count.try_into().map_err(|_| cut())?),
            _ => return Err(PackError::Damaged("another kind of file")),
        };
        if checksum(&file, end)? != checksum_at(&file, end)? {
            return Err(PackError::Damaged("its checksum is wrong"));
        }
        let mut entries = Vec::new();
        let mut position = BEGINNING as u64;
        for _ in 0..count {
            let mut bytes = [0; MAX_HEAD];
            // A head may be shorter than the longest, but never reaches the checksum.
            let bytes = &mut bytes[..MAX_HEAD.min(end.saturating_sub(position) as usize)];
            file.read_exact_at(bytes, position)?;
            let head = EntryHead::parse(bytes)?;
            let begin = position + head.length as u64;
            let after = end_of(&file, begin..end, head.size)?;
            entries.push(ReceivedEntry {
                position,
                head,
                compressed: begin..after,
            });
            position = after;
        }
        match position == end {
            true => Ok(Self { file, entries }),
            false => Err(PackError::Damaged("more than it announces")),
        }
    }

    /// Returns whether it may refer to objects that are not in it.
    pub(crate) fn may_be_thin(&self) -> bool {
        let is_by_id = |it: &ReceivedEntry| matches!(it.head.kind, EntryKind::IdDelta(_));
        self.entries.iter().any(is_by_id)
    }
}

fn checksum(file: &File, end: u64) -> Result<Vec<u8>, PackError> {
    let mut input = BufReader::with_capacity(64 << 10, FileRange::new(file, 0..end));
    let mut hash = Sha1::new();
    let mut bytes = vec![0; 64 << 10];
    loop {
        match input.read(&mut bytes)? {
            0 => return Ok(hash.finalize().to_vec()),
            length => hash.update(&bytes[..length]),
        }
    }
}

fn checksum_at(file: &File, end: u64) -> Result<Vec<u8>, PackError> {
    let mut bytes = vec![0; CHECKSUM as usize];
    file.read_exact_at(&mut bytes, end)?;
    Ok(bytes)
}

/// Returns where the compressed bytes at the beginning of a part of a file end.
fn end_of(file: &File, part: Range<u64>, size: u64) -> Result<u64, PackError> {
    let damaged = || PackError::Damaged("not compressed");
    let mut inflate = Decompress::new(true);
    let (mut input, mut output) = (vec![0; 16 << 10], vec![0; 64 << 10]);
    loop {
        let at = part.start + inflate.total_in();
        let length = input.len().min(part.end.saturating_sub(at) as usize);
        file.read_exact_at(&mut input[..length], at)?;
        let before = (inflate.total_in(), inflate.total_out());
        let status = inflate
            .decompress(&input[..length], &mut output, FlushDecompress::None)
            .map_err(|_| damaged())?;
        let after = (inflate.total_in(), inflate.total_out());
        if after.1 > size || status != Status::StreamEnd && after == before {
            return Err(damaged());
        }
        if status == Status::StreamEnd {
            return match after.1 == size {
                true => Ok(part.start + after.0),
                false => Err(damaged()),
            };
        }
    }
}
