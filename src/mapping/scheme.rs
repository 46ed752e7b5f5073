//! Schemes: how an auto code is derived from a target.
//!
//! A scheme hashes the bytes of a URL as written to a number of a fixed width and spells that
//! number in base64url (RFC 4648 section 5, no padding).
//! The number matters besides its spelling: where two URLs share one, the next number is probed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crc::{CRC_64_XZ, Crc};
use sha2::{Digest, Sha256};

use super::Code;

const CRC64_XZ: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);

/// How many bits of a key a code of 48 bits leaves out.
pub(super) const KEY_REST: u32 = 16;

/// A way to derive a code from a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scheme {
    /// The first 48 bits of SHA-256 (FIPS 180-4): 8 characters.
    #[default]
    Sha256,
    /// CRC-64/XZ (ECMA-182, reflected): 64 bits, 11 characters.
    Crc64Xz,
}

impl Scheme {
    /// Every scheme.
    pub const ALL: [Self; 2] = [Self::Sha256, Self::Crc64Xz];

    /// Returns the scheme of that name, as `code-scheme` and `--scheme` write it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name)
    }

    /// Returns the name that `code-scheme` and `--scheme` use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Crc64Xz => "crc64-xz",
        }
    }

    /// Returns how many characters a code has.
    pub fn code_len(self) -> usize {
        match self {
            Self::Sha256 => 8,
            Self::Crc64Xz => 11,
        }
    }

    /// Derives the code of a URL, from its bytes as written.
    pub fn code(self, url: &str) -> Code {
        self.spell(self.hash(url))
    }

    /// Returns the codes to try, in order, when an auto code is held by another target:
    /// the hash value + 1, + 2, …, modulo 2^48 or 2^64. Of what is no auto code, there are none.
    pub fn probe(self, code: &str) -> impl Iterator<Item = Code> {
        let value = self.value(code);
        value.into_iter().flat_map(move |value| self.behind(value))
    }

    fn behind(self, mut value: u64) -> impl Iterator<Item = Code> {
        std::iter::repeat_with(move || {
            value = self.successor(value);
            self.spell(value)
        })
    }

    fn hash(self, url: &str) -> u64 {
        match self {
            Self::Sha256 => key(url) >> KEY_REST,
            Self::Crc64Xz => CRC64_XZ.checksum(url.as_bytes()),
        }
    }

    fn successor(self, value: u64) -> u64 {
        match self {
            Self::Sha256 => (value + 1) % (1 << 48),
            Self::Crc64Xz => value.wrapping_add(1),
        }
    }

    /// Returns the hash value that a code spells.
    fn value(self, code: &str) -> Option<u64> {
        let mut bytes = [0; 8];
        let unused = match self {
            Self::Sha256 => 2,
            Self::Crc64Xz => 0,
        };
        let decoded = URL_SAFE_NO_PAD.decode_slice(code, &mut bytes[unused..]);
        decoded.ok().filter(|_| code.len() == self.code_len())?;
        Some(u64::from_be_bytes(bytes))
    }

    fn spell(self, value: u64) -> Code {
        let bytes = value.to_be_bytes();
        Code::derived(match self {
            Self::Sha256 => URL_SAFE_NO_PAD.encode(&bytes[2..]),
            Self::Crc64Xz => URL_SAFE_NO_PAD.encode(bytes),
        })
    }
}

/// Returns the first 64 bits of the SHA-256 of a target, by which entries are found; the first 48
/// of them are what its code spells, if it has no other.
pub(super) fn key(target: &str) -> u64 {
    let digest = Sha256::digest(target.as_bytes());
    let [a, b, c, d, e, f, g, h, ..] = digest.0;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Returns the code that a key spells.
pub(super) fn code_of_key(key: u64) -> Code {
    Scheme::Sha256.spell(key >> KEY_REST)
}

/// Returns the first bits of the keys that spell a code.
pub(super) fn key_bits(code: &str) -> Option<u64> {
    Scheme::Sha256.value(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn vectors() -> Value {
        serde_json::from_str(include_str!("../../tests/vectors/codes.json")).unwrap()
    }

    fn text(value: &Value) -> &str {
        value.as_str().unwrap()
    }

    #[test]
    fn derives_the_published_codes() {
        let vectors = vectors();
        for scheme in Scheme::ALL {
            for vector in vectors[scheme.name()].as_array().unwrap() {
                let code = scheme.code(text(&vector["url"]));
                assert_eq!(code.as_str(), text(&vector["code"]));
                assert_eq!(code.as_str().len(), scheme.code_len());
            }
        }
    }

    #[test]
    fn probes_collisions_as_published() {
        let vectors = vectors();
        for scheme in Scheme::ALL {
            let collisions = &vectors[format!("{}_collisions", scheme.name())];
            for vector in collisions.as_array().unwrap() {
                for url in vector["urls"].as_array().unwrap() {
                    let code = scheme.code(text(url));
                    assert_eq!(code.as_str(), text(&vector["code"]));
                    let next = scheme.probe(code.as_str()).next().unwrap();
                    assert_eq!(next.as_str(), text(&vector["next"]));
                }
            }
        }
    }

    #[test]
    fn probing_wraps_around() {
        for vector in vectors()["probing"].as_array().unwrap() {
            let scheme = Scheme::from_name(text(&vector["scheme"])).unwrap();
            let value = u64::from_str_radix(text(&vector["value"]), 16).unwrap();
            assert_eq!(scheme.spell(value).as_str(), text(&vector["code"]));
            let next = scheme.spell(scheme.successor(value));
            assert_eq!(next.as_str(), text(&vector["next"]));
        }
    }

    #[test]
    fn numbers_have_the_published_base62_form() {
        for vector in vectors()["base62"].as_array().unwrap() {
            let number = text(&vector["number"]).parse().unwrap();
            assert_eq!(
                Code::number(number).unwrap().as_str(),
                text(&vector["code"])
            );
        }
    }

    proptest! {
        #[test]
        fn an_auto_code_is_base64url_of_its_length(url in "\\PC{0,60}") {
            for scheme in Scheme::ALL {
                let code = scheme.code(&url);
                prop_assert_eq!(code.as_str().len(), scheme.code_len());
                prop_assert!(code.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
            }
        }
    }
}
