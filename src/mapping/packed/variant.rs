//! Variants of entries: other targets for requests that prefer some media types.
//!
//! A variant is stored as a note: its media types, separated by commas, a space, and its target; if paths
//! below the codes lead to a URL of its own, a space and that URL follow.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use crate::mapping::value::{Forward, MediaType, Target, scheme};

/// A variant of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant<'t> {
    types: &'t str,
    target: &'t str,
    below: Option<&'t str>,
}

/// A variant that is not in a table yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedVariant {
    /// Its media types, at least one.
    pub types: Vec<MediaType>,
    /// Its target.
    pub target: Target<'static>,
    /// The URL to which paths below the codes are appended, if it is not that of the entry.
    pub below: Option<Target<'static>>,
}

/// Writes the text in which it is stored.
impl fmt::Display for OwnedVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<_> = self.types.iter().map(MediaType::as_str).collect();
        write_note(
            f,
            &types.join(","),
            self.target.as_str(),
            self.below.as_ref().map(Target::as_str),
        )
    }
}

impl<'t> Variant<'t> {
    /// Returns the variant that is stored in a text.
    pub(crate) fn of_note(text: &'t str) -> Self {
        let (types, urls) = text.split_once(' ').unwrap_or(("", text));
        let (target, below) = match urls.split_once(' ') {
            Some((target, below)) => (target, Some(below)),
            None => (urls, None),
        };
        Self {
            types,
            target,
            below,
        }
    }

    /// Returns the variant with another URL for paths.
    pub(crate) fn with_below(self, below: Option<&'t str>) -> Self {
        Self { below, ..self }
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

    /// Returns the URL to which paths below the codes are appended, if it has one of its own.
    pub fn below(&self) -> Option<&'t str> {
        self.below
    }

    /// Returns the URL to which paths below the codes are appended, if they are, given what its entry
    /// forwards and the entry's own URL for paths: with `forward: all`, they lead to the target as it is.
    pub(crate) fn path_target(&self, forward: Forward, below: Option<&'t str>) -> Option<&'t str> {
        match self.below {
            Some(below) => Some(below),
            None if forward.path() => Some(self.target),
            None if forward.takes_below() => None,
            None => below,
        }
    }

    /// Returns its URLs: the target, and that for paths if it has one.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        [self.target].into_iter().chain(self.below)
    }
}

/// Writes the text in which it is stored.
impl fmt::Display for Variant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_note(f, self.types, self.target, self.below)
    }
}

fn write_note(
    f: &mut fmt::Formatter<'_>,
    types: &str,
    target: &str,
    below: Option<&str>,
) -> fmt::Result {
    write!(f, "{types} {target}")?;
    match below {
        Some(below) => write!(f, " {below}"),
        None => Ok(()),
    }
}

/// Serializes it like the item of a table.
impl Serialize for Variant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let count = 2 + usize::from(self.below.is_some());
        let mut fields = serializer.serialize_struct("Variant", count)?;
        fields.serialize_field("accept", &self.types().collect::<Vec<_>>())?;
        fields.serialize_field("url", self.target)?;
        match self.below {
            Some(below) => fields.serialize_field("below", below)?,
            None => fields.skip_field("below")?,
        }
        fields.end()
    }
}
