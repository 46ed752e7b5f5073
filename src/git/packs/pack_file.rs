//! A pack that is being written, entry by entry, and its index (gitformat-pack(5)).

use std::io::{self, Write};

use flate2::Crc;
use git2::Oid;
use sha1::{Digest as _, Sha1};

use super::entry::{EntryKind, head};
use super::pack_index::{PackIndexEntry, index_of};

/// A pack that is being written.
pub(crate) struct PackFile<W> {
    out: W,
    hash: Sha1,
    /// The checksum of the current entry.
    crc: Crc,
    position: u64,
    entries: Vec<PackIndexEntry>,
}

/// A pack that was written.
pub(crate) struct FinishedPack<W> {
    pub(crate) out: W,
    /// A name that no other pack has, without an extension.
    pub(crate) name: String,
    /// The content of its index.
    pub(crate) index: Vec<u8>,
}

impl<W: Write> PackFile<W> {
    /// Begins a pack of so many objects.
    ///
    /// # Errors
    ///
    /// If there are more than a pack can have, or writing fails.
    pub(crate) fn new(out: W, count: usize) -> io::Result<Self> {
        let mut pack = Self {
            out,
            hash: Sha1::new(),
            crc: Crc::new(),
            position: 0,
            entries: Vec::with_capacity(count),
        };
        let count = u32::try_from(count).map_err(io::Error::other)?;
        pack.write_all(b"PACK\0\0\0\x02")?;
        pack.write_all(&count.to_be_bytes())?;
        Ok(pack)
    }

    /// Returns where the next entry begins.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Writes the entry of an object. `write` writes its compressed bytes, which inflate to `size`.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub(crate) fn entry<E: From<io::Error>>(
        &mut self,
        id: Oid,
        kind: EntryKind,
        size: u64,
        write: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let position = self.position;
        self.crc = Crc::new();
        self.write_all(&head(kind, size))?;
        write(self)?;
        let crc = self.crc.sum();
        self.entries.push(PackIndexEntry { id, position, crc });
        Ok(())
    }

    /// Ends the pack.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub(crate) fn finish(mut self) -> io::Result<FinishedPack<W>> {
        let checksum = self.hash.finalize();
        self.out.write_all(&checksum)?;
        self.out.flush()?;
        let id = Oid::from_bytes(&checksum).map_err(io::Error::other)?;
        Ok(FinishedPack {
            out: self.out,
            name: format!("pack-{id}"),
            index: index_of(self.entries, &checksum),
        })
    }
}

impl PackFile<Vec<u8>> {
    /// Returns what was written.
    pub(crate) fn so_far(&self) -> &[u8] {
        &self.out
    }
}

impl<W: Write> Write for PackFile<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.out.write(bytes)?;
        let bytes = &bytes[..length];
        self.hash.update(bytes);
        self.crc.update(bytes);
        self.position += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
