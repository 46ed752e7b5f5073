//! Secrets: given, or read from a file when they are needed; wiped from memory afterwards.
//!
//! Invariants: no `Debug` and no error shows one; a secret read or copied here is wiped when it is
//! dropped. The caller decides where secrets come from; nothing here reads the environment.

use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

use crate::git::regular::open_regular;

/// The size limit in bytes, more than any password or token has: a wrong path must not fill the
/// memory.
const MAX_BYTES: usize = 64 * 1024;

/// The source of a secret.
#[derive(Clone)]
pub enum Secret {
    /// It was given directly.
    Value(SecretText),
    /// It is in a file, read at each fetch; a final line break is not part of it.
    File(PathBuf),
}

/// A secret, wiped from memory when it is dropped.
#[derive(Clone)]
pub struct SecretText(Zeroizing<String>);

/// Why a secret is not available.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// A file cannot be read.
    #[error("cannot read the secret in {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
    /// A file is empty.
    #[error("the secret in {} is empty", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl Secret {
    /// Returns the current secret.
    ///
    /// # Errors
    ///
    /// If it is in a file that cannot be read, or is empty.
    pub fn read(&self) -> Result<SecretText, CredentialsError> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::File(path) => {
                let text = contents(path).map_err(|source| {
                    let path = path.clone();
                    CredentialsError::Unreadable { path, source }
                })?;
                let text = text.trim_end_matches(['\r', '\n']);
                match text.is_empty() {
                    true => Err(CredentialsError::Empty { path: path.clone() }),
                    false => Ok(SecretText::from(text.to_owned())),
                }
            }
        }
    }

    /// Returns the file of the secret, if everyone on this machine can read it.
    pub fn exposed_file(&self) -> Option<&Path> {
        match self {
            Self::Value(_) => None,
            Self::File(path) => is_exposed(path).then_some(path),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(_) => f.write_str("Value(***)"),
            Self::File(path) => write!(f, "File({})", path.display()),
        }
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl Deref for SecretText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Only for the pipe to the process that fetches.
impl Serialize for SecretText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// Returns whether others than the owner and the group can read a file.
///
/// A group is common: a server reads files of root that way, and volumes are mounted with one.
pub fn is_exposed(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
}

/// Returns the content of a file, in memory that is not moved while it is read and wiped after its
/// use.
fn contents(path: &Path) -> io::Result<Zeroizing<String>> {
    let mut file = open_regular(path)?.take(MAX_BYTES as u64 + 1);
    let mut text = Zeroizing::new(String::with_capacity(2 * MAX_BYTES));
    match file.read_to_string(&mut text)? {
        0..=MAX_BYTES => Ok(text),
        _ => Err(io::Error::other("more than a secret has")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_nothing() {
        let text = SecretText::from("hunter2".to_owned());
        assert!(!format!("{text:?} {:?}", Secret::Value(text.clone())).contains("hunter2"));
    }

    #[test]
    fn a_pipe_is_no_file_of_a_secret_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert!(matches!(
            Secret::File(pipe).read(),
            Err(CredentialsError::Unreadable { .. })
        ));
    }

    #[test]
    fn reports_a_world_readable_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let secret = Secret::File(file.path().to_owned());
        for (mode, exposed) in [(0o600, false), (0o440, false), (0o644, true), (0o604, true)] {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(secret.exposed_file().is_some(), exposed, "{mode:o}");
        }
        assert_eq!(Secret::Value(String::new().into()).exposed_file(), None);
        assert!(!is_exposed(&file.path().join("nowhere")));
    }

    #[test]
    fn reads_no_more_than_a_secret_has() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "x".repeat(MAX_BYTES + 1)).unwrap();
        assert!(Secret::File(file.path().to_owned()).read().is_err());
        fs::write(file.path(), "x".repeat(MAX_BYTES)).unwrap();
        let read = Secret::File(file.path().to_owned()).read().unwrap();
        assert_eq!(read.len(), MAX_BYTES);
    }
}
