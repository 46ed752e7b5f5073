//! Verifying a signature with the key in it, by OpenSSL, which Git's https and ssh already require.
//!
//! Any error of OpenSSL means that it is invalid: OpenSSL fails on malformed keys and signatures.

use openssl::bn::{BigNum, BigNumContext};
use openssl::ec::{EcGroup, EcKey, EcPoint};
use openssl::ecdsa::EcdsaSig;
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey, Public};
use openssl::rsa::Rsa;
use openssl::sign::Verifier;
use sha2::{Digest as _, Sha256};
use ssh_key::public::{Ed25519PublicKey, KeyData, RsaPublicKey};
use ssh_key::{Algorithm, EcdsaCurve, HashAlg, Mpint, SshSig};

/// The length of the flags and the counter that a security key adds to a signature.
const ADDED: usize = 5;

/// Returns whether the key in a signature made it for a text.
pub(super) fn is_made_by_its_key(signature: &SshSig, text: &[u8]) -> bool {
    SshSig::signed_data(signature.namespace(), signature.hash_alg(), text)
        .is_ok_and(|signed| check(signature, &signed).unwrap_or(false))
}

fn check(signature: &SshSig, signed: &[u8]) -> Result<bool, ErrorStack> {
    let (algorithm, bytes) = (signature.algorithm(), signature.signature_bytes());
    match (signature.public_key(), algorithm) {
        (KeyData::Ed25519(key), Algorithm::Ed25519) => ed25519(key, bytes, signed),
        (KeyData::SkEd25519(key), Algorithm::SkEd25519) => {
            match by_security_key(key.application(), bytes, signed) {
                Some((bytes, signed)) => ed25519(key.public_key(), bytes, &signed),
                None => Ok(false),
            }
        }
        (KeyData::Ecdsa(key), Algorithm::Ecdsa { curve }) if key.curve() == curve => {
            ecdsa(curve, key.as_sec1_bytes(), bytes, signed)
        }
        (KeyData::SkEcdsaSha2NistP256(key), Algorithm::SkEcdsaSha2NistP256) => {
            match by_security_key(key.application(), bytes, signed) {
                Some((bytes, signed)) => {
                    let point = key.ec_point().as_bytes();
                    ecdsa(EcdsaCurve::NistP256, point, bytes, &signed)
                }
                None => Ok(false),
            }
        }
        (KeyData::Rsa(key), Algorithm::Rsa { hash: Some(hash) }) => rsa(key, hash, bytes, signed),
        _ => Ok(false),
    }
}

fn ed25519(key: &Ed25519PublicKey, bytes: &[u8], signed: &[u8]) -> Result<bool, ErrorStack> {
    let key = PKey::public_key_from_raw_bytes(&key.0, Id::ED25519)?;
    Verifier::new_without_digest(&key)?.verify_oneshot(bytes, signed)
}

/// Checks a signature by a key on a curve: two numbers (RFC 5656 section 3.1.2), which are positive,
/// as the reader of signatures refuses others.
fn ecdsa(curve: EcdsaCurve, point: &[u8], bytes: &[u8], signed: &[u8]) -> Result<bool, ErrorStack> {
    let (name, digest) = match curve {
        EcdsaCurve::NistP256 => (Nid::X9_62_PRIME256V1, MessageDigest::sha256()),
        EcdsaCurve::NistP384 => (Nid::SECP384R1, MessageDigest::sha384()),
        EcdsaCurve::NistP521 => (Nid::SECP521R1, MessageDigest::sha512()),
    };
    let group = EcGroup::from_curve_name(name)?;
    let point = EcPoint::from_bytes(&group, point, &mut *BigNumContext::new()?)?;
    let key = PKey::from_ec_key(EcKey::from_public_key(&group, &point)?)?;
    let Some((r, rest)) = split_string(bytes) else {
        return Ok(false);
    };
    let Some((s, [])) = split_string(rest) else {
        return Ok(false);
    };
    let numbers =
        EcdsaSig::from_private_components(BigNum::from_slice(r)?, BigNum::from_slice(s)?)?;
    verify(&key, digest, &numbers.to_der()?, signed)
}

fn rsa(key: &RsaPublicKey, hash: HashAlg, bytes: &[u8], signed: &[u8]) -> Result<bool, ErrorStack> {
    let digest = match hash {
        HashAlg::Sha256 => MessageDigest::sha256(),
        HashAlg::Sha512 => MessageDigest::sha512(),
        _ => return Ok(false),
    };
    let number = |it: &Mpint| BigNum::from_slice(it.as_positive_bytes().unwrap_or_default());
    let (modulus, exponent) = (number(&key.n)?, number(&key.e)?);
    // With the exponent 1, which OpenSSL accepts, anyone could sign.
    if !exponent.is_bit_set(0) || !(2..=33).contains(&exponent.num_bits()) {
        return Ok(false);
    }
    let key = PKey::from_rsa(Rsa::from_public_components(modulus, exponent)?)?;
    verify(&key, digest, bytes, signed)
}

fn verify(
    key: &PKey<Public>,
    digest: MessageDigest,
    bytes: &[u8],
    signed: &[u8],
) -> Result<bool, ErrorStack> {
    Verifier::new(digest, key)?.verify_oneshot(bytes, signed)
}

/// Splits a signature by a security key, and returns with it what such a key signs: hashes with its
/// flags and counter between them (OpenSSH's `PROTOCOL.u2f`).
fn by_security_key<'a>(
    application: &str,
    bytes: &'a [u8],
    signed: &[u8],
) -> Option<(&'a [u8], Vec<u8>)> {
    let (bytes, added) = split_added(bytes)?;
    let mut all = Sha256::digest(application).to_vec();
    all.extend_from_slice(added);
    all.extend_from_slice(&Sha256::digest(signed));
    Some((bytes, all))
}

/// Splits a signature from what a security key adds to it.
pub(super) fn split_added(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(bytes.len().checked_sub(ADDED)?)
}

/// Splits off a string, which begins with its length.
fn split_string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use ssh_key::Signature;

    use super::*;

    /// Returns whether the encoded message (RFC 8017) itself passes as a signature of a text.
    fn passes_unencrypted(exponent: &[u8]) -> bool {
        let mut modulus = vec![0xff; 256];
        modulus[0] = 0x7f;
        let number = |bytes: &[u8]| Mpint::from_positive_bytes(bytes).unwrap();
        let key = KeyData::Rsa(RsaPublicKey {
            e: number(exponent),
            n: number(&modulus),
        });
        let signed = SshSig::signed_data("git", HashAlg::Sha256, b"text").unwrap();
        let mut encoded = vec![
            0x30, 49, 0x30, 13, 0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1,
        ];
        encoded.extend_from_slice(&[5, 0, 4, 32]);
        encoded.extend_from_slice(&Sha256::digest(signed));
        let mut bytes = vec![0xff; 256 - encoded.len()];
        bytes[..2].copy_from_slice(&[0, 1]);
        *bytes.last_mut().unwrap() = 0;
        bytes.extend_from_slice(&encoded);
        let algorithm = Algorithm::Rsa {
            hash: Some(HashAlg::Sha256),
        };
        let signature = Signature::new(algorithm, bytes).unwrap();
        let signature = SshSig::new(key, "git", HashAlg::Sha256, signature).unwrap();
        is_made_by_its_key(&signature, b"text")
    }

    #[test]
    fn refuses_an_exponent_with_which_anyone_signs() {
        assert!(!passes_unencrypted(&[1]));
        assert!(!passes_unencrypted(&[1, 0, 1]));
    }
}
