//! Variants of entries: other targets for requests that prefer some media types.
//!
//! A variant is stored as a note: its media types, separated by commas, a space, and its target.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use crate::mapping::value::{MediaType, Target, scheme};

/// A variant of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant<'t> {
    types: &'t str,
    target: &'t str,
}

/// A variant that is not in a table yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedVariant {
    /// Its media types, at least one.
    pub types: Vec<MediaType>,
    /// Its target.
    pub target: Target<'static>,
}

/// Writes the text in which it is stored.
impl fmt::Display for OwnedVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<_> = self.types.iter().map(MediaType::as_str).collect();
        write!(f, "{} {}", types.join(","), self.target.as_str())
    }
}

impl<'t> Variant<'t> {
    /// Returns the variant that is stored in a text.
    pub(crate) fn of_note(text: &'t str) -> Self {
        let (types, target) = text.split_once(' ').unwrap_or(("", text));
        Self { types, target }
    }

    /// Returns its media types, in lower case, in written order.
    pub fn types(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        self.types.split(',')
    }

    /// Returns its media types in lower case, as a list for people.
    pub fn type_list(&self) -> String {
        self.types.replace(',', ", ")
    }

    /// Returns the first 64 bits of the SHA-256 of its target.
    pub(crate) fn target_hash(&self) -> u64 {
        scheme::key(self.target)
    }

    /// Returns its target in canonical form.
    pub fn target(&self) -> &'t str {
        self.target
    }
}

/// Writes the text in which it is stored.
impl fmt::Display for Variant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.types, self.target)
    }
}

/// Serializes it like the item of a table.
impl Serialize for Variant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Variant", 2)?;
        fields.serialize_field("accept", &self.types().collect::<Vec<_>>())?;
        fields.serialize_field("url", self.target)?;
        fields.end()
    }
}
