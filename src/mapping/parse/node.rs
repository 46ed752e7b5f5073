//! The nodes of a file, with their positions: the output of both parsers.

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
    Scalar {
        text: Cow<'t, str>,
        plain: bool,
        /// The comment after a plain scalar, if no space separates it from its `#`.
        tight_comment: Option<&'t str>,
    },
    /// The start of a list: its items and its end follow.
    Sequence,
    /// The start of a map: its keys, values and end follow.
    Mapping,
    /// An alias, already reported as a problem.
    Alias,
}

impl<'t> Node<'t> {
    /// Returns a scalar with no comment after it.
    pub(super) fn scalar(text: impl Into<Cow<'t, str>>, plain: bool) -> Self {
        Self::Scalar {
            text: text.into(),
            plain,
            tight_comment: None,
        }
    }

    /// Returns its name in messages.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Scalar {
                text, plain: true, ..
            } if text.is_empty() => "nothing",
            Self::Scalar { .. } => "a plain value",
            Self::Sequence => "a list",
            Self::Mapping => "a map of keys",
            Self::Alias => "an alias",
        }
    }
}

/// Returns the comment at the start of a text, if a character of a URL's fragment follows its `#`
/// immediately (RFC 3986, section 3.5): never another `#`.
pub(super) fn tight_comment(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('#')?;
    let is_tight = inner.starts_with(|c: char| c != '#' && !c.is_whitespace());
    is_tight.then_some(text)
}
