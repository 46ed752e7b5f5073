//! The identity of a piece of a file: pieces with the same identity have the same text.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

/// The SHA-256 (FIPS 180-4) of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// Where each is among them.
    places: HashMap<PieceId, usize>,
}

impl KnownPieces {
    pub(crate) fn of(pieces: impl Iterator<Item = (PieceId, Option<PieceExtent>)>) -> Self {
        let all: Vec<_> = pieces.collect();
        let places = all.iter().map(|(id, _)| *id).zip(0..).collect();
        Self { all, places }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn contains(&self, piece: &PieceId) -> bool {
        self.places.contains_key(piece)
    }

    /// Returns the piece that is expected after another one, if it had a successor itself.
    pub(crate) fn after(&self, piece: &PieceId) -> Option<(PieceId, PieceExtent)> {
        let (id, extent) = *self.all.get(self.places.get(piece)? + 1)?;
        Some((id, extent?))
    }
}
