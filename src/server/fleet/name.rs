//! The name of a fleet, by which its replicas find each other on a server that others use too.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::git::hex;

/// The longest name.
const MAX_NAME: usize = 64;

/// How many bytes of a hash make a name.
const HASHED: usize = 8;

/// The name of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetName(String);

/// A text is not a name of a fleet.
#[derive(Debug, thiserror::Error)]
#[error("a name has 1 to 64 characters, of A-Z, a-z, 0-9, `-`, `_` and `.`")]
pub struct FleetNameError;

impl FleetName {
    /// Returns the name of the replicas that follow a table in a repository.
    pub fn of_repository(url: &str, reference: Option<&str>, path: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [url, reference.unwrap_or("HEAD"), path] {
            // With the length, no two lists of parts have the same bytes.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(hex(&hash.finalize()[..HASHED]))
    }

    /// Returns the shard whose keys are this fleet's.
    pub(super) fn shard(&self) -> String {
        format!("waypost:fleet:{self}")
    }
}

impl FromStr for FleetName {
    type Err = FleetNameError;

    fn from_str(text: &str) -> Result<Self, FleetNameError> {
        let is_allowed = |c: u8| c.is_ascii_alphanumeric() || b"-_.".contains(&c);
        let is_name = (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(is_allowed);
        (is_name.then(|| Self(text.to_owned()))).ok_or(FleetNameError)
    }
}

impl fmt::Display for FleetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_in_other_places_are_other_fleets() {
        let of = |url, reference, path| FleetName::of_repository(url, reference, path).to_string();
        let one = of("https://git.example/links", None, "mapping.yaml");
        assert_eq!(one.len(), 2 * HASHED);
        assert_eq!(
            one,
            of("https://git.example/links", Some("HEAD"), "mapping.yaml")
        );
        for other in [
            of("https://git.example/link", None, "smapping.yaml"),
            of("https://git.example/links", Some("next"), "mapping.yaml"),
            of("https://git.example/links", None, "links"),
        ] {
            assert_ne!(one, other);
        }
        assert!(one.parse::<FleetName>().is_ok());
    }

    #[test]
    fn a_name_fits_in_a_key() {
        assert_eq!(
            "links-1.eu_W".parse::<FleetName>().unwrap().shard(),
            "waypost:fleet:links-1.eu_W"
        );
        for text in ["", "a b", "a:b", "a}b", "ä", &"x".repeat(65)] {
            assert!(text.parse::<FleetName>().is_err(), "{text}");
        }
    }
}
