//! The nodes of a file, with their positions: what both parsers read.

use std::borrow::Cow;

use crate::mapping::value::Position;

/// A value and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) position: Position,
}

/// The start of a node.
#[derive(Debug)]
pub(crate) enum Node<'t> {
    /// A scalar after YAML's escapes, and whether it was written without quotes.
    Scalar { text: Cow<'t, str>, plain: bool },
    /// The start of a list: its items and its end follow.
    Sequence,
    /// The start of a map: its keys, values and end follow.
    Mapping,
    /// An alias, already reported as a problem.
    Alias,
}

impl Node<'_> {
    /// Returns its name in messages.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Scalar { text, plain: true } if text.is_empty() => "nothing",
            Self::Scalar { .. } => "a plain value",
            Self::Sequence => "a list",
            Self::Mapping => "a map of keys",
            Self::Alias => "an alias",
        }
    }
}
