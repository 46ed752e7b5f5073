//! The key under which the record of a URL is stored: short, whatever the length of the URL.

use sha2::{Digest as _, Sha256};

/// The first bytes of the SHA-256 of a URL. With a million links, the chance that any two share one
/// is one in 10¹⁷.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LinkKey([u8; 12]);

impl LinkKey {
    /// Returns the key of a URL.
    pub(crate) fn of(url: &str) -> Self {
        Self::of_parts((url, ""))
    }

    /// Returns the key of a URL in two parts.
    pub(crate) fn of_parts((start, rest): (&str, &str)) -> Self {
        let digest = Sha256::new_with_prefix(start).chain_update(rest).finalize();
        let first = digest.first_chunk().copied();
        Self(first.expect("a digest has 32 bytes"))
    }

    /// Returns its first 64 bits, by which a table finds the URL if it is a target.
    pub(super) fn hash(self) -> u64 {
        let first = self.0.first_chunk().copied();
        u64::from_be_bytes(first.expect("a key has 12 bytes"))
    }

    /// Returns its bytes.
    pub(crate) fn bytes(self) -> [u8; 12] {
        self.0
    }
}

impl From<[u8; 12]> for LinkKey {
    fn from(bytes: [u8; 12]) -> Self {
        Self(bytes)
    }
}

impl From<LinkKey> for Vec<u8> {
    fn from(key: LinkKey) -> Self {
        key.0.to_vec()
    }
}
