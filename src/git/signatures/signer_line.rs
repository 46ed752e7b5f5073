//! One line of a file of allowed signers (ssh-keygen(1), "ALLOWED SIGNERS").
//!
//! Unlike in ssh-keygen, which skips a line it cannot use, every such line is an error: an option
//! that is not understood must not be silently ignored.

use std::ops::RangeInclusive;

use ssh_key::PublicKey;
use ssh_key::public::KeyData;

use super::signer_line_error::{KeyError, SignerLineError};
use super::signer_options::SignerOptions;

/// The allowed sizes of RSA keys in bits: shorter ones are weak, and longer ones take long to check.
const RSA_BITS: RangeInclusive<usize> = 2048..=4096;

/// Who may sign, with which key, for which purpose, and when.
#[derive(Debug)]
pub(crate) struct SignerLine {
    /// The names of the signer, as written.
    pub(crate) principals: String,
    pub(crate) key: PublicKey,
    pub(crate) options: SignerOptions,
}

impl SignerLine {
    /// Reads a line; a comment or an empty one is `None`.
    pub(crate) fn parse(line: &str) -> Result<Option<Self>, SignerLineError> {
        let line = line.trim_matches([' ', '\t', '\r', '\n']);
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (principals, rest) = match line.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or(SignerLineError::Quote)?,
            None => line.split_once(BLANK).ok_or(SignerLineError::NoKey)?,
        };
        let rest = rest.trim_start_matches(BLANK);
        let (options, key) = if begins_with_key(rest) {
            (SignerOptions::default(), rest)
        } else {
            let (options, key) = rest.split_at(SignerOptions::end(rest)?);
            (SignerOptions::parse(options)?, key)
        };
        Ok(Some(Self {
            principals: principals.to_owned(),
            key: read_key(key)?,
            options,
        }))
    }
}

const BLANK: [char; 2] = [' ', '\t'];

/// Returns whether a text begins with a key and not with options: no option begins like a kind of
/// key.
fn begins_with_key(text: &str) -> bool {
    ["ssh-", "ecdsa-", "sk-"]
        .iter()
        .any(|kind| text.starts_with(kind))
}

/// Parses a key as in a `.pub` file; the rest is a comment.
fn read_key(text: &str) -> Result<PublicKey, SignerLineError> {
    let mut words = text.split_ascii_whitespace();
    let (Some(kind), Some(base64)) = (words.next(), words.next()) else {
        return Err(SignerLineError::NoKey);
    };
    if !begins_with_key(kind) {
        return Err(SignerLineError::NoKey);
    }
    if kind == "ssh-dss" || kind.ends_with("-cert-v01@openssh.com") {
        return Err(SignerLineError::KeyKind(kind.to_owned()));
    }
    let key = PublicKey::from_openssh(&format!("{kind} {base64}"))
        .map_err(|error| SignerLineError::Key(KeyError(error)))?;
    match key.key_data() {
        KeyData::Ed25519(_)
        | KeyData::Ecdsa(_)
        | KeyData::SkEd25519(_)
        | KeyData::SkEcdsaSha2NistP256(_) => Ok(key),
        KeyData::Rsa(rsa) => {
            let modulus = rsa.n.as_positive_bytes().unwrap_or_default();
            let zeros = modulus
                .first()
                .map_or(0, |byte| byte.leading_zeros() as usize);
            let bits = modulus.len() * 8 - zeros;
            if RSA_BITS.contains(&bits) {
                Ok(key)
            } else {
                Err(SignerLineError::RsaSize(bits))
            }
        }
        _ => Err(SignerLineError::KeyKind(kind.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use ssh_key::Mpint;
    use ssh_key::public::RsaPublicKey;

    use super::*;

    const KEY: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";

    fn said(line: &str) -> String {
        SignerLine::parse(line).unwrap_err().to_string()
    }

    #[test]
    fn reads_what_ssh_keygen_reads() {
        for line in ["", "  ", "# comment", "\t# comment", "\r"] {
            assert!(SignerLine::parse(line).unwrap().is_none(), "{line:?}");
        }
        for (line, principals) in [
            (format!("a@example.org {KEY}"), "a@example.org"),
            (format!("  a,b\t{KEY}  a comment\r"), "a,b"),
            (format!("\"a b\" {KEY}"), "a b"),
            (
                format!("*@example.org NAMESPACES=\"git,file\",valid-before=\"20300101Z\" {KEY}"),
                "*@example.org",
            ),
            (format!("a namespaces=\"a b\\\" c\" {KEY} comment"), "a"),
        ] {
            assert_eq!(
                SignerLine::parse(&line).unwrap().unwrap().principals,
                principals
            );
        }
    }

    #[test]
    fn refuses_lines_it_cannot_obey() {
        for (line, message) in [
            ("a@example.org", "no key: write"),
            ("a@example.org ssh-ed25519", "no key: write"),
            ("a@example.org namespaces=\"git\"", "no key: write"),
            ("a@example.org namespaces=\"git\" AAAA", "no key: write"),
            ("\"a@example.org", "a quote is not closed"),
            ("a namespaces=\"git KEY", "a quote is not closed"),
            (
                "a namespaces=git KEY",
                "the option namespaces needs a value",
            ),
            ("a namespaces KEY", "the option namespaces needs a value"),
            (
                "a namespaces=\"a\",namespaces=\"b\" KEY",
                "the option namespaces is given twice",
            ),
            (
                "a no-touch-required KEY",
                "unknown option \"no-touch-required\"",
            ),
            ("a namespaces=\"git\", KEY", "unknown option \"\""),
            ("a namespaces=\"git\"x KEY", "unknown option \"x\""),
            (
                "a valid-before=\"tomorrow\" KEY",
                "\"tomorrow\" is not a time",
            ),
            (
                "a valid-after=\"20270101\",valid-before=\"20260101\" KEY",
                "valid-before is not later",
            ),
            (
                "*@example.org cert-authority KEY",
                "cert-authority is not supported",
            ),
            (
                "a namespaces=\"git\",Cert-Authority KEY",
                "cert-authority is not supported",
            ),
            ("a ssh-ed25519 AAAA", "the key cannot be read"),
            (
                "a ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti",
                "the key cannot be read",
            ),
            ("a ssh-dss AAAA", "a key of the kind ssh-dss"),
            (
                "a ssh-ed25519-cert-v01@openssh.com AAAA",
                "a key of the kind ssh-ed25519-cert-v01",
            ),
        ] {
            let said = said(&line.replace("KEY", KEY));
            assert!(said.starts_with(message), "{line}: {said}");
        }
    }

    #[test]
    fn bounds_the_size_of_rsa_keys() {
        for (bits, fine) in [
            (1024, false),
            (2047, false),
            (2048, true),
            (4096, true),
            (4097, false),
            (16384, false),
        ] {
            let mut modulus = vec![0xff_u8; usize::div_ceil(bits, 8)];
            modulus[0] = 0xff >> (modulus.len() * 8 - bits);
            let key = RsaPublicKey {
                e: Mpint::from_positive_bytes(&[1, 0, 1]).unwrap(),
                n: Mpint::from_positive_bytes(&modulus).unwrap(),
            };
            let key = PublicKey::new(KeyData::Rsa(key), "").to_openssh().unwrap();
            let read = SignerLine::parse(&format!("a {key}"));
            assert_eq!(read.is_ok(), fine, "{bits}: {read:?}");
            if !fine {
                assert!(
                    read.unwrap_err()
                        .to_string()
                        .contains(&format!("{bits} bits"))
                );
            }
        }
    }
}
