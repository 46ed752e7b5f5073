//! The identity of a piece of a file: pieces with the same identity have the same text.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

/// The SHA-256 (FIPS 180-4) of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PieceId([u8; 32]);

impl PieceId {
    /// Returns the identity of some bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).0)
    }

    /// Returns the identity of the pieces with some identities, one after another.
    pub(crate) fn of_all(pieces: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Sha256::new();
        for Self(hash) in pieces {
            all.update(hash);
        }
        Self(all.finalize().0)
    }

    /// Returns the hash.
    pub(crate) fn hash(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The identity of bytes that are read one after another.
#[derive(Debug, Default)]
pub(crate) struct PieceHash(Sha256);

impl PieceHash {
    /// Reads the next bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the identity of all of them.
    pub(crate) fn finish(self) -> PieceId {
        PieceId(self.0.finalize().0)
    }
}

/// A part of a hash is hashed: tables have thousands of pieces.
impl Hash for PieceId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (first, _) = self.0.split_first_chunk().expect("a hash has 32 bytes");
        state.write_u64(u64::from_le_bytes(*first));
    }
}

/// The length of a piece in bytes, and its number of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PieceExtent {
    pub(crate) length: usize,
    pub(crate) lines: u32,
}

/// The pieces of a file that are known from an earlier version of its table.
#[derive(Debug, Default)]
pub struct KnownPieces {
    /// In their order there. A piece has its extent if another one follows it in its list.
    all: Vec<(PieceId, Option<PieceExtent>)>,
    /// Where each is among them, once that is needed: most files of a table have not changed.
    places: OnceLock<HashMap<PieceId, usize>>,
}

impl KnownPieces {
    pub(crate) fn of(pieces: impl Iterator<Item = (PieceId, Option<PieceExtent>)>) -> Self {
        Self {
            all: pieces.collect(),
            places: OnceLock::new(),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn contains(&self, piece: &PieceId) -> bool {
        self.places().contains_key(piece)
    }

    /// Returns the piece that is expected after another one, if it had a successor itself.
    pub(crate) fn after(&self, piece: &PieceId) -> Option<(PieceId, PieceExtent)> {
        let (id, extent) = *self.all.get(self.places().get(piece)? + 1)?;
        Some((id, extent?))
    }

    /// Returns whether all of some pieces are known.
    pub(crate) fn contain(&self, pieces: impl Iterator<Item = PieceId> + Clone) -> bool {
        let own = self.all.iter().map(|(id, _)| *id);
        own.eq(pieces.clone()) || pieces.into_iter().all(|id| self.contains(&id))
    }

    fn places(&self) -> &HashMap<PieceId, usize> {
        let ids = self.all.iter().map(|(id, _)| *id);
        self.places.get_or_init(|| ids.zip(0..).collect())
    }
}
