//! The name of several hosts that share one allowance.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;

/// The name of a group of hosts: letters, digits, `_` and `-`.
///
/// It has no full stop, so an alias is never mistaken for a domain name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AliasName(Arc<str>);

/// A text is not the name of an alias.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not an alias: an alias is one word of letters, digits, `_` and `-`")]
pub struct AliasError(String);

impl AliasName {
    /// Parses the name of an alias.
    ///
    /// # Errors
    ///
    /// If it is empty or has any other character.
    pub fn parse(text: &str) -> Result<Self, AliasError> {
        let allowed = |c: u8| c.is_ascii_alphanumeric() || b"-_".contains(&c);
        if text.is_empty() || !text.bytes().all(allowed) {
            return Err(AliasError(text.to_owned()));
        }
        Ok(Self(text.into()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AliasName {
    type Err = AliasError;

    fn from_str(text: &str) -> Result<Self, AliasError> {
        Self::parse(text)
    }
}

impl fmt::Display for AliasName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_name_is_no_alias() {
        assert_eq!(AliasName::parse("Wiki_1-a").unwrap().as_str(), "Wiki_1-a");
        for text in ["", "example.com", "two words", "ä", "a:80"] {
            assert!(AliasName::parse(text).is_err(), "{text:?}");
        }
    }
}
