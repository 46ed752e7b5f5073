//! Edits of single keys of an entry.

use std::borrow::Cow;

use crate::edit::scalar::{item, like, list, scalar};
use crate::mapping::ScalarForm;

/// The keys of an entry in the order in which they are written.
const KEYS: [&str; 15] = [
    "url",
    "below",
    "short-code",
    "number",
    "aliases",
    "title",
    "owner",
    "tags",
    "status",
    "forward",
    "cache-max-age",
    "expires",
    "retired",
    "variants",
    "archive",
];

/// An edit of one key of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyEdit {
    /// The key.
    pub key: &'static str,
    /// Its new value; `None` removes it.
    pub value: Option<NewValue>,
    /// Whether the comments on the lines of a removed key, and those below it that are indented deeper, are
    /// removed, too.
    pub erases_comments: bool,
}

/// A new value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewValue {
    /// A text, which is quoted if necessary.
    Text(String),
    /// A number, a date or another word that is never quoted.
    Word(String),
    /// A list of texts.
    Texts(Vec<String>),
}

impl KeyEdit {
    /// Sets a key to a text, or removes it.
    pub fn text(key: &'static str, text: Option<impl Into<String>>) -> Self {
        Self::new(key, text.map(|text| NewValue::Text(text.into())))
    }

    /// Sets a key to a word that is never quoted, or removes it.
    pub fn word(key: &'static str, word: Option<impl ToString>) -> Self {
        Self::new(key, word.map(|word| NewValue::Word(word.to_string())))
    }

    /// Sets a key to a list of texts, or removes it if the list is empty.
    pub fn texts(key: &'static str, texts: Vec<String>) -> Self {
        Self::new(key, (!texts.is_empty()).then_some(NewValue::Texts(texts)))
    }

    /// Removes a key and the comments on its lines, and those below it that are indented deeper.
    pub fn erased(key: &'static str) -> Self {
        Self {
            erases_comments: true,
            ..Self::new(key, None)
        }
    }

    fn new(key: &'static str, value: Option<NewValue>) -> Self {
        Self {
            key,
            value,
            erases_comments: false,
        }
    }
}

impl NewValue {
    /// Returns whether this is the content of some values.
    pub(super) fn is(&self, values: &[Cow<'_, str>]) -> bool {
        match self {
            Self::Text(text) | Self::Word(text) => values == [text.as_str()],
            Self::Texts(texts) => values == texts.as_slice(),
        }
    }

    /// Writes the value, in the form of the value that it replaces, if there is one.
    pub(super) fn written(&self, before: Option<ScalarForm>, is_flow: bool) -> String {
        match self {
            Self::Text(text) => match before {
                Some(form) => like(form, text, is_flow),
                None if is_flow => item(text),
                None => scalar(text),
            },
            Self::Word(word) => word.clone(),
            Self::Texts(texts) => list(texts.iter().map(String::as_str)).unwrap_or_default(),
        }
    }
}

/// Returns the place of a key in the order of keys.
pub(super) fn rank(key: &str) -> usize {
    let known = KEYS.iter().position(|known| *known == key);
    known.unwrap_or(KEYS.len())
}
