//! Schemes: how an auto code is derived from a target.
//!
//! A scheme hashes the bytes of a URL as written to a number of a fixed width and encodes that
//! number in base64url (RFC 4648 section 5, no padding). The number is also used without its
//! spelling: if two URLs share one, the next number is probed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crc::{CRC_64_XZ, Crc};
use sha2::{Digest, Sha256};

use super::code::Code;

const CRC64_XZ: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);

/// The number of bits of a key that a code of 48 bits leaves out.
pub(crate) const KEY_REST: u32 = 16;

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

    /// Returns the scheme with the given name, as used by `code-scheme` and `--scheme`.
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

    /// Returns the number of characters of a code.
    pub fn code_len(self) -> usize {
        match self {
            Self::Sha256 => 8,
            Self::Crc64Xz => 11,
        }
    }

    /// Derives the code of a URL, from its bytes as written.
    pub fn code(self, url: &str) -> Code {
        self.encode(self.hash(url))
    }

    /// Returns the codes to try, in order, when another target has an auto code: the hash value +
    /// 1, + 2, …, modulo 2^48 or 2^64. There are none for a text that is not an auto code.
    pub fn probe(self, code: &str) -> impl Iterator<Item = Code> {
        let value = self.value(code);
        value.into_iter().flat_map(move |value| self.after(value))
    }

    fn after(self, mut value: u64) -> impl Iterator<Item = Code> {
        std::iter::repeat_with(move || {
            value = self.successor(value);
            self.encode(value)
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

    /// Returns the hash value that a code encodes. It is called for every request, so no decoder for
    /// texts of any length is used.
    fn value(self, code: &str) -> Option<u64> {
        if code.len() != self.code_len() {
            return None;
        }
        let mut bits: u128 = 0;
        let mut is_code = true;
        for byte in code.bytes() {
            let digit = DIGITS[usize::from(byte)];
            is_code &= digit < 64;
            bits = bits << 6 | u128::from(digit);
        }
        // Eleven characters hold two bits more than the value, which are zero.
        let spare = 6 * self.code_len() as u32 - self.bits();
        is_code &= bits.trailing_zeros() >= spare;
        is_code.then_some((bits >> spare) as u64)
    }

    /// Returns the width of a hash value.
    fn bits(self) -> u32 {
        match self {
            Self::Sha256 => u64::BITS - KEY_REST,
            Self::Crc64Xz => u64::BITS,
        }
    }

    fn encode(self, value: u64) -> Code {
        let bytes = value.to_be_bytes();
        Code::derived(match self {
            Self::Sha256 => URL_SAFE_NO_PAD.encode(&bytes[2..]),
            Self::Crc64Xz => URL_SAFE_NO_PAD.encode(bytes),
        })
    }
}

/// The characters of base64url (RFC 4648 section 5), by their values.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The values of the characters of base64url; 64 for all others.
const DIGITS: [u8; 256] = {
    let mut digits = [64; 256];
    let mut value = 0;
    while value < 64 {
        digits[ALPHABET[value] as usize] = value as u8;
        value += 1;
    }
    digits
};

/// Returns the first 64 bits of the SHA-256 of a target, by which entries are found; the first 48
/// of them are encoded in its SHA-256 code.
pub(crate) fn key(target: &str) -> u64 {
    let digest = Sha256::digest(target.as_bytes());
    let [a, b, c, d, e, f, g, h, ..] = digest.0;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Returns the code that a key encodes to.
pub(crate) fn code_of_key(key: u64) -> Code {
    Scheme::Sha256.encode(key >> KEY_REST)
}

/// Returns the characters of the code that a key encodes to, for callers that visit all entries.
pub(crate) fn code_bytes_of_key(key: u64) -> [u8; 8] {
    let digit = |at: usize| ALPHABET[(key >> (58 - 6 * at) & 63) as usize];
    std::array::from_fn(digit)
}

/// Returns the first bits of the keys that encode to a code.
pub(crate) fn key_bits(code: &str) -> Option<u64> {
    Scheme::Sha256.value(code)
}

/// Returns the first and the last key that encode to a code beginning with the given text; `None` if no
/// code does.
pub(crate) fn keys_from(start: &str) -> Option<(u64, u64)> {
    let rest = Scheme::Sha256.code_len().checked_sub(start.len())?;
    let key = |digit: char| {
        let code: String = start
            .chars()
            .chain(std::iter::repeat_n(digit, rest))
            .collect();
        Some(key_bits(&code)? << KEY_REST)
    };
    // The first and the last digit of base64url.
    Some((key('A')?, key('_')? | ((1 << KEY_REST) - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn vectors() -> Value {
        serde_json::from_str(include_str!("../../../../tests/vectors/codes.json")).unwrap()
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

    proptest! {
        #[test]
        fn the_characters_of_a_code_are_those_of_its_key(key: u64) {
            let (bytes, code) = (code_bytes_of_key(key), code_of_key(key));
            prop_assert_eq!(bytes.as_slice(), code.as_str().as_bytes());
        }
    }

    #[test]
    fn probing_wraps_around() {
        for vector in vectors()["probing"].as_array().unwrap() {
            let scheme = Scheme::from_name(text(&vector["scheme"])).unwrap();
            let value = u64::from_str_radix(text(&vector["value"]), 16).unwrap();
            assert_eq!(scheme.encode(value).as_str(), text(&vector["code"]));
            let next = scheme.encode(scheme.successor(value));
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
        fn a_code_encodes_its_value(value: u64, other in "[A-Za-z0-9_+=-]{8,11}") {
            for scheme in Scheme::ALL {
                let value = value >> (u64::BITS - scheme.bits());
                prop_assert_eq!(scheme.value(scheme.encode(value).as_str()), Some(value));
                if let Some(value) = scheme.value(&other) {
                    let encoded = scheme.encode(value);
                    prop_assert_eq!(encoded.as_str(), other.as_str());
                }
            }
        }

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
