//! Edits of single keys of an entry.

use std::borrow::Cow;

use crate::edit::scalar::{item, like, list, scalar};
use crate::edit::variant_lines::{variant_lines, variants_in_brackets};
use crate::mapping::{OwnedVariant, ScalarForm};

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
    /// Variants.
    Variants(Vec<OwnedVariant>),
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

    /// Sets the variants, or removes the key if there are none.
    pub fn variants(variants: Vec<OwnedVariant>) -> Self {
        let value = (!variants.is_empty()).then_some(NewValue::Variants(variants));
        Self::new("variants", value)
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
            // They are only set if they change, or their spelling.
            Self::Variants(_) => false,
        }
    }

    /// Writes the value, in the form of the value that it replaces, if there is one. A value on lines of its
    /// own begins each with a line break, and is indented relative to its key.
    pub(super) fn written(&self, before: Option<ScalarForm>, is_flow: bool) -> String {
        match self {
            Self::Text(text) => match before {
                Some(form) => like(form, text, is_flow),
                None if is_flow => item(text),
                None => scalar(text),
            },
            Self::Word(word) => word.clone(),
            Self::Texts(texts) => list(texts.iter().map(String::as_str)).unwrap_or_default(),
            Self::Variants(variants) if is_flow => variants_in_brackets(variants),
            Self::Variants(variants) => variant_lines(variants),
        }
    }
}

/// Returns the place of a key in the order of keys.
pub(super) fn rank(key: &str) -> usize {
    let known = KEYS.iter().position(|known| *known == key);
    known.unwrap_or(KEYS.len())
}
