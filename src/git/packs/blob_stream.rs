//! A blob in the packs of a repository, read from its beginning, so that a large file is never in memory.
//!
//! As in Git itself, what is read from a pack is verified by the checksum of each compressed part, and
//! not by the id of the object: that was verified when the object was received.

use std::io::{self, Read};
use std::path::Path;

use flate2::read::ZlibDecoder;
use git2::{ObjectType, Oid};

use super::delta::{Delta, DeltaStep, MAX_STEPS};
use super::local_packs::{FileRange, LocalPacks};
use super::pack_error::PackError;

/// The packs of a repository, whose blobs can be read.
pub(crate) struct PackedBlobs(LocalPacks);

/// The content of a blob.
pub(crate) struct BlobStream<'p> {
    content: Content<'p>,
    /// The number of bytes that are not yet read.
    left: u64,
}

enum Content<'p> {
    Whole(Inflated<'p>),
    Delta(DeltaContent<'p>),
}

type Inflated<'p> = ZlibDecoder<FileRange<'p>>;

/// A blob that is built from parts of another one.
struct DeltaContent<'p> {
    delta: Delta,
    base: Base<'p>,
    /// The number of the current step, and how many of its bytes were read.
    step: usize,
    done: u64,
}

/// The object to which a delta is one.
enum Base<'p> {
    /// Read once, as far as the given position: enough for a delta that copies parts in their order.
    Streamed(Inflated<'p>, u64),
    Whole(Vec<u8>),
}

impl PackedBlobs {
    /// Opens the packs in a directory; `None` if there are too many, or their indexes are too large.
    ///
    /// # Errors
    ///
    /// If a pack is damaged, or the system fails.
    pub(crate) fn open(directory: &Path) -> Result<Option<Self>, PackError> {
        Ok(LocalPacks::open_few(directory)?.map(Self))
    }

    /// Returns the content of a blob of at most `max` bytes; `None` if the packs have no such blob.
    ///
    /// # Errors
    ///
    /// If it is larger or damaged, takes a delta of too many steps, or the system fails.
    pub(crate) fn stream(&self, id: Oid, max: u64) -> Result<Option<BlobStream<'_>>, PackError> {
        let Some((_, stored)) = self.0.best(id)? else {
            return Ok(None);
        };
        let root = self.0.root_within(id, stored, max, MAX_STEPS)?;
        if root.kind() != ObjectType::Blob {
            return Ok(None);
        }
        let size = root.stored.head.size;
        let file = self.0.file_of(&root.stored);
        let inflated = ZlibDecoder::new(FileRange::new(file, root.stored.compressed.clone()));
        let (content, left) = match root.delta {
            None => (Content::Whole(inflated), size),
            Some(delta) if delta.base_size() != size => {
                return Err(PackError::Damaged("a delta that does not fit its base"));
            }
            Some(delta) => {
                let left = delta.result_size();
                let base = match delta.copies_in_order() {
                    true => Base::Streamed(inflated, 0),
                    false => Base::Whole(self.0.inflated(&root.stored, max)?),
                };
                let content = DeltaContent {
                    delta,
                    base,
                    step: 0,
                    done: 0,
                };
                (Content::Delta(content), left)
            }
        };
        match left > max {
            true => Err(PackError::TooLarge(left)),
            false => Ok(Some(BlobStream { content, left })),
        }
    }
}

impl Read for BlobStream<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = bytes
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if most == 0 {
            return Ok(0);
        }
        let read = match &mut self.content {
            Content::Whole(inflated) => inflated.read(&mut bytes[..most])?,
            Content::Delta(content) => content.read(&mut bytes[..most])?,
        };
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read as u64;
        if self.left == 0 {
            self.content.verify_end()?;
        }
        Ok(read)
    }
}

impl Content<'_> {
    /// Reads on to the checksum at the end of the compressed bytes, which is verified there.
    fn verify_end(&mut self) -> io::Result<()> {
        match self {
            Self::Whole(inflated) => match inflated.read(&mut [0])? {
                0 => Ok(()),
                _ => Err(io::Error::other("an entry of another size")),
            },
            Self::Delta(DeltaContent {
                base: Base::Streamed(inflated, _),
                ..
            }) => io::copy(inflated, &mut io::sink()).map(drop),
            // That was verified when it was inflated.
            Self::Delta(_) => Ok(()),
        }
    }
}

impl DeltaContent<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Some(&step) = self.delta.steps().get(self.step) else {
            return Ok(0);
        };
        let left = step.length() - self.done;
        let most = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let bytes = &mut bytes[..most];
        let read = match step {
            DeltaStep::Copy { from, .. } => self.base.read(from + self.done, bytes)?,
            DeltaStep::Insert { from, .. } => {
                let from = from + self.done as usize;
                bytes.copy_from_slice(&self.delta.inserted_bytes()[from..from + most]);
                most
            }
        };
        self.done += read as u64;
        if self.done == step.length() {
            (self.step, self.done) = (self.step + 1, 0);
        }
        Ok(read)
    }
}

impl Base<'_> {
    /// Reads some bytes from a position on, which is not before the last one in a stream.
    fn read(&mut self, from: u64, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Whole(base) => {
                let from = from as usize;
                bytes.copy_from_slice(&base[from..from + bytes.len()]);
                Ok(bytes.len())
            }
            Self::Streamed(inflated, position) => {
                let skipped = from - *position;
                *position += io::copy(&mut inflated.take(skipped), &mut io::sink())?;
                let read = match *position == from {
                    true => inflated.read(bytes)?,
                    false => 0,
                };
                *position += read as u64;
                Ok(read)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::entry::deflate;
    use super::super::pack_writer::{CompressedBytes, Durability, NewPackEntry, write_pack};
    use super::*;

    const KIND: ObjectType = ObjectType::Blob;

    /// Writes a pack of a blob and of a delta to it; returns the directory, the ids and the contents.
    fn packed(delta: impl Fn(&mut Delta)) -> (tempfile::TempDir, [Oid; 2], [Vec<u8>; 2]) {
        let base: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut steps = Delta::between(base.len() as u64, 0);
        delta(&mut steps);
        let steps = steps.sized();
        let result = steps.apply(&base).unwrap();
        let ids = [&base, &result].map(|bytes| Oid::hash_object(KIND, bytes).unwrap());
        let bytes = steps.to_bytes();
        let entries = [(&base, None), (&bytes, Some(ids[0]))];
        let entries: Vec<_> = entries
            .iter()
            .zip(ids)
            .map(|((bytes, base), id)| NewPackEntry {
                id,
                kind: KIND,
                base: *base,
                size: bytes.len() as u64,
                content: CompressedBytes::Bytes(deflate(bytes).unwrap()),
            })
            .collect();
        let directory = tempfile::tempdir().unwrap();
        let aside = directory.path().join("aside");
        let written = write_pack(&aside, &entries, Durability::Buffered).unwrap();
        written.install().unwrap();
        (directory, ids, [base, result])
    }

    fn read(directory: &Path, id: Oid) -> io::Result<Vec<u8>> {
        let packs = PackedBlobs::open(directory).unwrap().unwrap();
        let mut read = Vec::new();
        let mut stream = packs.stream(id, 1 << 20).unwrap().unwrap();
        stream.read_to_end(&mut read).map(|_| read)
    }

    #[test]
    fn blobs_are_read_whatever_their_deltas_copy() {
        let orders: [fn(&mut Delta); 3] = [
            |delta| {
                delta.copy(4_000, 300_000);
                delta.insert(b"a new line");
                delta.copy(400_000, 400_000);
            },
            |delta| {
                delta.copy(500_000, 300_000);
                delta.insert(b"a new line");
                delta.copy(0, 500_000);
            },
            |delta| delta.insert(b"nothing of the other"),
        ];
        for order in orders {
            let (directory, ids, contents) = packed(order);
            for (id, content) in ids.into_iter().zip(contents) {
                assert!(read(directory.path(), id).unwrap() == content);
            }
        }
    }

    #[test]
    fn a_blob_that_is_missing_or_too_large_is_not_read() {
        let (directory, ids, _) = packed(|delta| delta.copy(0, 799_999));
        let packs = PackedBlobs::open(directory.path()).unwrap().unwrap();
        assert!(packs.stream(Oid::ZERO_SHA1, 1 << 20).unwrap().is_none());
        for id in ids {
            let refused = packs.stream(id, 700_000).err();
            assert!(
                matches!(refused, Some(PackError::TooLarge(_))),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn damage_is_found_before_the_end_is_read() {
        let (directory, ids, _) = packed(|delta| delta.copy(0, 1_000));
        let files = fs::read_dir(directory.path()).unwrap();
        let mut paths = files.map(|it| it.unwrap().path());
        let pack = paths.find(|it| it.extension().is_some_and(|it| it == "pack"));
        let pack = pack.unwrap();
        let mut bytes = fs::read(&pack).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&pack, bytes).unwrap();
        for id in ids {
            assert!(read(directory.path(), id).is_err());
        }
    }
}
