//! The SSH signature of a commit: finding and parsing it.
//!
//! The formats are Git's (gitformat-signature(5)) and OpenSSH's (`PROTOCOL.sshsig`). libgit2's own
//! extraction is not used: it continues past the header into the message, and ends the signed text
//! at a NUL, so that any text appended to a message after one would pass as signed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ssh_key::{Algorithm, PublicKey, SshSig};

use super::key_check::split_added;

/// The namespace in which Git signs.
pub(crate) const NAMESPACE: &str = "git";

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";

/// The header field with the signature; a field with this prefix is never part of the signed text.
const FIELD: &[u8] = b"gpgsig";

/// The number of characters in a line of the armor: ssh-keygen writes this many, and the reader
/// accepts no other.
const ARMOR_WIDTH: usize = 70;

/// The error in a signature, phrased as a predicate of a commit.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignatureError {
    #[error("is not signed: sign it with an allowed SSH key (git commit -S, with gpg.format=ssh)")]
    Missing,
    #[error("has {0} signature, which is not checked here: sign with an SSH key (gpg.format=ssh)")]
    OtherFormat(&'static str),
    #[error(
        "is signed with a certificate, which is not checked here: sign with a key that is listed"
    )]
    Certificate,
    #[error("has an SSH signature that cannot be read ({0}): sign it again with git")]
    Unreadable(String),
    #[error("has a signature for {0:?} instead of \"git\": sign it with git")]
    Namespace(String),
}

/// A signature, with the text that it claims to sign.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) ssh: SshSig,
    pub(crate) payload: Vec<u8>,
}

impl Signature {
    /// Reads the signature of a commit object. Whether it matches is not checked.
    pub(crate) fn of(commit: &[u8]) -> Result<Self, SignatureError> {
        let (armor, payload) = split(commit);
        let ssh = read(&String::from_utf8_lossy(&armor))?;
        if ssh.namespace() != NAMESPACE {
            return Err(SignatureError::Namespace(ssh.namespace().to_owned()));
        }
        Ok(Self { ssh, payload })
    }
}

/// Splits a commit object as Git does: into its signature, and the rest, which is signed.
fn split(commit: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut armor, mut payload) = (Vec::new(), Vec::new());
    let mut rest = commit;
    let (mut in_signature, mut in_other) = (false, false);
    while !rest.is_empty() && rest[0] != b'\n' {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let (line, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        rest = after;
        if line[0] != b' ' {
            let field = line.strip_prefix(FIELD);
            in_signature = field.is_some_and(|value| value.starts_with(b" "));
            in_other = field.is_some() && !in_signature;
        }
        if in_signature {
            let value = line.strip_prefix(FIELD).unwrap_or(line);
            armor.extend_from_slice(&value[1..]);
        } else if !in_other {
            payload.extend_from_slice(line);
        }
    }
    payload.extend_from_slice(rest);
    (armor, payload)
}

/// Reads an armored signature.
fn read(armor: &str) -> Result<SshSig, SignatureError> {
    let armor = armor.trim();
    if armor.is_empty() {
        return Err(SignatureError::Missing);
    }
    if armor.starts_with("-----BEGIN PGP ") {
        return Err(SignatureError::OtherFormat("a PGP"));
    }
    if armor.starts_with("-----BEGIN SIGNED MESSAGE-----") {
        return Err(SignatureError::OtherFormat("an X.509"));
    }
    let inner = (armor.strip_prefix(BEGIN)).and_then(|armor| armor.strip_suffix(END));
    let inner =
        inner.ok_or_else(|| unreadable("it lacks the first or last line of a signature"))?;
    // Only ssh-keygen itself breaks lines where the reader expects it.
    let base64: String = inner.split_ascii_whitespace().collect();
    let blob = STANDARD.decode(&base64).map_err(unreadable)?;
    if key_kind(&blob).is_some_and(|kind| kind.ends_with(b"-cert-v01@openssh.com")) {
        return Err(SignatureError::Certificate);
    }
    let mut pem = format!("{BEGIN}\n");
    for line in base64.as_bytes().chunks(ARMOR_WIDTH) {
        pem.push_str(&String::from_utf8_lossy(line));
        pem.push('\n');
    }
    pem.push_str(END);
    pem.push('\n');
    let signature = SshSig::from_pem(&pem).map_err(unreadable)?;
    // The reader accepts a version before the first, lengths that do not match, and data in the field
    // that is reserved, which is not signed.
    if written(&signature) != Some(blob) {
        return Err(unreadable("it is not written as ssh-keygen does"));
    }
    Ok(signature)
}

/// Writes a signature as ssh-keygen does. The crate's own writer puts the flags and counter of an
/// ECDSA security key into the preceding string.
fn written(signature: &SshSig) -> Option<Vec<u8>> {
    let algorithm = signature.algorithm();
    let (bytes, added) = match algorithm {
        Algorithm::SkEd25519 | Algorithm::SkEcdsaSha2NistP256 => {
            split_added(signature.signature_bytes())?
        }
        _ => (signature.signature_bytes(), &[][..]),
    };
    let mut made = Vec::new();
    for string in [algorithm.as_str().as_bytes(), bytes] {
        push_string(&mut made, string)?;
    }
    made.extend_from_slice(added);

    let key = PublicKey::from(signature.public_key().clone())
        .to_bytes()
        .ok()?;
    let (namespace, hash) = (signature.namespace(), signature.hash_alg());
    let mut blob = b"SSHSIG\0\0\0\x01".to_vec();
    for string in [
        &*key,
        namespace.as_bytes(),
        b"",
        hash.as_str().as_bytes(),
        &made,
    ] {
        push_string(&mut blob, string)?;
    }
    Some(blob)
}

fn push_string(to: &mut Vec<u8>, string: &[u8]) -> Option<()> {
    to.extend_from_slice(&u32::try_from(string.len()).ok()?.to_be_bytes());
    to.extend_from_slice(string);
    Some(())
}

fn unreadable(reason: impl ToString) -> SignatureError {
    SignatureError::Unreadable(reason.to_string())
}

/// Returns the kind of the key in a signature: it begins with `SSHSIG`, a version, and the key,
/// which begins with its kind.
fn key_kind(blob: &[u8]) -> Option<&[u8]> {
    let (_, key) = blob.strip_prefix(b"SSHSIG")?.split_at_checked(8)?;
    let (length, key) = key.split_first_chunk()?;
    key.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(commit: &str) -> (String, String) {
        let (armor, payload) = split(commit.as_bytes());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(armor), text(payload))
    }

    #[test]
    fn takes_the_signature_out_of_the_header() {
        assert_eq!(
            parts("tree 1\ngpgsig a\n b\n \nencoding x\n\nmessage\n"),
            (
                "a\nb\n\n".to_owned(),
                "tree 1\nencoding x\n\nmessage\n".to_owned()
            )
        );
    }

    #[test]
    fn does_not_look_for_a_signature_in_the_message() {
        let commit = "tree 1\n\ngpgsig a\n b\n\0more\n";
        assert_eq!(parts(commit), (String::new(), commit.to_owned()));
    }

    #[test]
    fn leaves_out_signatures_of_other_kinds_with_their_lines() {
        assert_eq!(
            parts("tree 1\ngpgsig-sha256 a\n b\ngpgsig c\nx y\n z\n\nm"),
            ("c\n".to_owned(), "tree 1\nx y\n z\n\nm".to_owned())
        );
    }

    #[test]
    fn survives_commits_that_are_cut() {
        for commit in ["", "\n", "gpgsig", "gpgsig ", "gpgsig a", " ", "tree"] {
            split(commit.as_bytes());
        }
        assert_eq!(parts("gpgsig a\n b"), ("a\nb".to_owned(), String::new()));
    }

    #[test]
    fn survives_any_short_blob() {
        let blob = b"SSHSIG\0\0\0\x01\0\0\0\x33\0\0\0\x0bssh-ed25519";
        for length in 0..=blob.len() {
            let inner = STANDARD.encode(&blob[..length]);
            let error = read(&format!("{BEGIN}\n{inner}\n{END}\n")).unwrap_err();
            assert!(matches!(error, SignatureError::Unreadable(_)), "{error}");
        }
        assert_eq!(key_kind(blob), Some(&b"ssh-ed25519"[..]));
        assert_eq!(
            key_kind(b"SSHSIG\0\0\0\x01\0\0\0\x33\xff\xff\xff\xffx"),
            None
        );
    }

    #[test]
    fn names_signatures_that_are_no_ssh_signatures() {
        let said = |armor| read(armor).unwrap_err().to_string();
        assert!(said("").starts_with("is not signed:"));
        assert!(said("-----BEGIN PGP SIGNATURE-----\n").starts_with("has a PGP signature,"));
        assert!(said("-----BEGIN SIGNED MESSAGE-----\n").starts_with("has an X.509 signature,"));
        let twice = format!("{BEGIN}\nAAAA\n{END}\n{BEGIN}\nAAAA\n{END}\n");
        assert!(said("-----BEGIN OTHER-----\n").contains("cannot be read"));
        assert!(said(&twice).contains("cannot be read"));
    }
}
