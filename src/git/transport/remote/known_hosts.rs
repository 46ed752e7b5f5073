//! Trusted SSH host keys, in OpenSSH's format (`sshd(8)`, "SSH_KNOWN_HOSTS FILE FORMAT").
//!
//! libgit2 reads only `~/.ssh/known_hosts`, fails on a file with a line it doesn't know, and does
//! not report which key it refused. Certificate authorities are left out: libssh2 does not support
//! them.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use crate::git::regular::read_regular;
use crate::git::setting::Setting;
use crate::git::ssh_patterns::matches_list;

/// The size limit of such a file in bytes, more than any has.
const MAX_BYTES: u64 = 16 << 20;

/// The default port, which is not written beside a host.
const SSH_PORT: u16 = 22;

/// The known keys of one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostKeys {
    /// The host, as named in messages.
    host: String,
    port: u16,
    /// The file they are from, as named in messages.
    file: Option<PathBuf>,
    trusted: Vec<HostKey>,
    revoked: Vec<HostKey>,
}

/// A public key, as SSH encodes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct HostKey {
    kind: String,
    base64: String,
}

/// Why a host's key is not trusted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HostKeyError {
    #[error("the host presented no key")]
    NotShown,
    #[error("the host key was not checked")]
    NotLookedUp,
    #[error("the host key of {name}, {fingerprint}, is revoked in {file}: do not trust this host")]
    Revoked {
        name: String,
        fingerprint: String,
        file: String,
    },
    #[error(
        "the host key of {name} is unknown: {fingerprint}; \
         if its owner confirms that, add the output of `{scan}` to {file}"
    )]
    Unknown {
        name: String,
        fingerprint: String,
        file: String,
        /// The command that prints the host's keys.
        scan: String,
    },
    #[error(
        "the host key of {name} is not the one in {file}: {fingerprint}; either it has changed, \
         or the connection is intercepted; if its owner confirms the new one, remove the old with \
         `ssh-keygen -R {name} -f {file}` and add the output of `{scan}`"
    )]
    Different {
        name: String,
        fingerprint: String,
        file: String,
        /// The command that prints the host's keys.
        scan: String,
    },
}

impl HostKeyError {
    /// Returns the setting that may have to be changed.
    pub(crate) fn setting(&self) -> Option<Setting> {
        match self {
            Self::Unknown { .. } => Some(Setting::KnownHosts),
            _ => None,
        }
    }
}

impl HostKeys {
    /// Looks up a host in a file.
    ///
    /// # Errors
    ///
    /// If there is such a file but it cannot be read. Without a file, no key is trusted.
    pub(crate) fn of(host: &str, port: u16, file: Option<&Path>) -> io::Result<Self> {
        let text = match file.map(|file| read_regular(file, MAX_BYTES)) {
            None => Vec::new(),
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Some(text) => text?,
        };
        let text = String::from_utf8(text).map_err(io::Error::other)?;
        Ok(Self {
            file: file.map(Path::to_owned),
            ..Self::parse(host, port, &text)
        })
    }

    fn parse(host: &str, port: u16, text: &str) -> Self {
        let host = host.to_ascii_lowercase();
        let named = written(&host, port);
        let mut keys = Self::matching(&named, text);
        if keys.trusted.is_empty() && port != SSH_PORT {
            // As OpenSSH does: a host's key counts at its other ports.
            keys.trusted = Self::matching(&host, text).trusted;
        }
        Self { host, port, ..keys }
    }

    fn matching(name: &str, text: &str) -> Self {
        let mut keys = Self::default();
        for line in text.lines() {
            let mut fields = line.split_whitespace().peekable();
            let marker = fields.next_if(|field| field.starts_with('@'));
            let (Some(hosts), Some(kind), Some(base64)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            if hosts.starts_with('#') || !matches(hosts, name) {
                continue;
            }
            let key = HostKey {
                kind: kind.to_owned(),
                base64: base64.to_owned(),
            };
            match marker {
                None => keys.trusted.push(key),
                Some("@revoked") => keys.revoked.push(key),
                Some(_) => {}
            }
        }
        keys
    }

    /// Decides whether to trust a host's key.
    ///
    /// # Errors
    ///
    /// If it is not the host's known key.
    pub(crate) fn check(&self, key: &[u8]) -> Result<(), HostKeyError> {
        let shown = STANDARD.encode(key);
        let is_shown = |known: &HostKey| known.base64 == shown;
        let name = written(&self.host, self.port);
        let fingerprint = fingerprint(key);
        let file = match &self.file {
            Some(file) => file.display().to_string(),
            None => "the file of the setting \"known hosts\"".to_owned(),
        };
        if self.revoked.iter().any(is_shown) {
            return Err(HostKeyError::Revoked {
                name,
                fingerprint,
                file,
            });
        }
        if self.trusted.iter().any(is_shown) {
            return Ok(());
        }
        let scan = match self.port {
            SSH_PORT => format!("ssh-keyscan {}", self.host),
            port => format!("ssh-keyscan -p {port} {}", self.host),
        };
        if self.trusted.is_empty() {
            return Err(HostKeyError::Unknown {
                name,
                fingerprint,
                file,
                scan,
            });
        }
        Err(HostKeyError::Different {
            name,
            fingerprint,
            file,
            scan,
        })
    }

    /// Returns the trusted keys in a form that libssh2 can certainly read.
    ///
    /// It only serves to negotiate a known kind of key with the host.
    pub(crate) fn to_file(&self) -> String {
        let name = written(&self.host, self.port);
        let known = |kind: &str| kind.starts_with("ssh-") || kind.starts_with("ecdsa-sha2-nistp");
        let mut text = String::new();
        for HostKey { kind, base64 } in self.trusted.iter().filter(|key| known(&key.kind)) {
            writeln!(text, "{name} {kind} {base64}").expect("writing to a string does not fail");
        }
        text
    }
}

/// Returns a host as it is written in a file.
fn written(host: &str, port: u16) -> String {
    match port {
        SSH_PORT => host.to_owned(),
        port => format!("[{host}]:{port}"),
    }
}

/// Returns a key's fingerprint as `ssh-keygen -l` prints it.
fn fingerprint(key: &[u8]) -> String {
    format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(key)))
}

/// Returns whether the first field of a line names a host.
fn matches(hosts: &str, name: &str) -> bool {
    if let Some(hashed) = hosts.strip_prefix("|1|") {
        return matches_hashed(hashed, name).unwrap_or(false);
    }
    matches_list(name, &hosts.to_ascii_lowercase())
}

fn matches_hashed(hashed: &str, name: &str) -> Option<bool> {
    let (salt, hash) = hashed.split_once('|')?;
    let salt = STANDARD.decode(salt).ok()?;
    let mut mac = Hmac::<Sha1>::new_from_slice(&salt).ok()?;
    mac.update(name.as_bytes());
    Some(mac.finalize().into_bytes()[..] == STANDARD.decode(hash).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = b"a key";
    const OTHER: &[u8] = b"another";

    fn known(host: &str, port: u16, text: &str) -> HostKeys {
        let text = text
            .replace("KEY", &STANDARD.encode(KEY))
            .replace("OTHER", &STANDARD.encode(OTHER));
        HostKeys::parse(host, port, &text)
    }

    #[test]
    fn trusts_the_keys_of_a_host() {
        for (host, port, line) in [
            ("h.example", 22, "h.example ssh-ed25519 KEY comment"),
            ("H.example", 22, "a,h.example,b ssh-ed25519 KEY"),
            ("h.example", 29, "[h.example]:29 ssh-ed25519 KEY"),
            ("h.example", 29, "h.example ssh-ed25519 KEY"),
            ("h.example", 22, "*.example ssh-ed25519 KEY"),
            ("h.example", 22, "?.ex*le ssh-ed25519 KEY"),
            ("::1", 22, "::1 ssh-ed25519 KEY"),
            // `ssh-keygen -H`
            (
                "h.example",
                22,
                "|1|e6n5QbvE1SiUrk9ZeL0EDIXeqc0=|/57oXb9/41RtOT4MG5qUa3qpEms= ssh-ed25519 KEY",
            ),
            (
                "h.example",
                29,
                "|1|iP6/8Xc3iBzzWCkPbyJYzyG314Q=|ssQeQGGGEuq6tiXgM33AAC8VAc4= ssh-ed25519 KEY",
            ),
        ] {
            assert_eq!(known(host, port, line).check(KEY), Ok(()), "{line}");
            let changed = known(host, port, line).check(OTHER).unwrap_err();
            assert!(changed.to_string().contains("is not the one"), "{changed}");
        }
    }

    #[test]
    fn reports_the_fingerprint_of_an_unknown_key() {
        for text in [
            "",
            "# h.example ssh-ed25519 KEY",
            "other.example ssh-ed25519 KEY",
            "*.example,!h.example ssh-ed25519 KEY",
            "@cert-authority h.example ssh-ed25519 KEY",
            "h.example ssh-ed25519",
        ] {
            let error = known("h.example", 29, text).check(KEY).unwrap_err();
            assert!(
                error.to_string().contains("[h.example]:29 is unknown"),
                "{error}"
            );
            assert!(error.to_string().contains("SHA256:"), "{error}");
            assert!(
                error.to_string().contains("ssh-keyscan -p 29 h.example"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_revoked_key_is_never_trusted() {
        let text = "h.example ssh-ed25519 KEY\n@revoked * ssh-ed25519 KEY";
        let error = known("h.example", 22, text).check(KEY).unwrap_err();
        assert!(error.to_string().contains("revoked"), "{error}");
    }

    #[test]
    fn hands_over_only_what_is_surely_understood() {
        let text =
            "h.example ssh-ed25519 KEY\nh.example odd-kind KEY\n@revoked h.example ssh-rsa OTHER";
        let expected = format!("h.example ssh-ed25519 {}\n", STANDARD.encode(KEY));
        assert_eq!(known("h.example", 22, text).to_file(), expected);
    }
}
