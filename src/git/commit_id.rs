//! The id of a commit.

use std::fmt;
use std::str::FromStr;

use git2::Oid;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The number of hexadecimal digits of a full id.
const FULL: usize = 40;

/// The number of hexadecimal digits that are enough for people: 48 bits, as Git shows for large
/// projects.
pub(crate) const SHORT: usize = 12;

/// The id of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(pub(crate) Oid);

/// A text is not the full id of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the full id of a commit, which has {FULL} hexadecimal digits")]
pub struct CommitIdError;

impl CommitId {
    /// Returns the abbreviated id for people.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(SHORT);
        text
    }
}

impl From<Oid> for CommitId {
    fn from(id: Oid) -> Self {
        Self(id)
    }
}

impl From<CommitId> for Oid {
    fn from(id: CommitId) -> Self {
        id.0
    }
}

/// Reads a full id, in hexadecimal.
impl FromStr for CommitId {
    type Err = CommitIdError;

    fn from_str(text: &str) -> Result<Self, CommitIdError> {
        if text.len() != FULL || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(CommitIdError);
        }
        Oid::from_str(text).map(Self).map_err(|_| CommitIdError)
    }
}

/// Writes the full id, in hexadecimal.
impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for CommitId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CommitId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn is_written_in_full_and_abbreviated() {
        let id: CommitId = ID.parse().unwrap();
        assert_eq!(id.to_string(), ID);
        assert_eq!(id.short(), "0123456789ab");
        assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{ID}\""));
        let read: CommitId = serde_json::from_str(&format!("\"{ID}\"")).unwrap();
        assert_eq!(read, id);
    }

    #[test]
    fn an_abbreviation_is_no_id() {
        for text in ["", "0123456789ab", &ID.replace('0', "x"), &format!("{ID}0")] {
            assert_eq!(text.parse::<CommitId>(), Err(CommitIdError), "{text}");
            let read = serde_json::from_str::<CommitId>(&format!("\"{text}\""));
            assert!(read.is_err(), "{text}");
        }
    }
}
