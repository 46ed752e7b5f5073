//! One row of a foreign format: a link for a table, or why it is refused.
//!
//! A link here is as another program described it. Whether its URL and its codes are valid, and
//! whether the codes are free, is decided when it is taken into a table.

use thiserror::Error;

use crate::mapping::{Forward, Status, WrittenDate, WrittenRetirement};

/// How many characters of a text that cannot be parsed are shown.
const SHOWN_CHARS: usize = 80;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedRow {
    /// The line on which it begins, from 1.
    pub line: usize,
    /// The link, or why the row has none.
    pub link: Result<ImportedLink, RowError>,
}

/// A link as a row describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportedLink {
    /// The target.
    pub url: Option<String>,
    /// Its code, if it has one: the part after the base URL.
    pub code: Option<String>,
    /// The number from which its code is derived.
    pub number: Option<u64>,
    /// Further codes.
    pub aliases: Vec<String>,
    /// The redirect status, if it is known.
    pub status: Option<Status>,
    /// The parts of a request that are carried over to the target, if known.
    pub forward: Option<Forward>,
    /// How long the redirect may be cached, in seconds.
    pub cache_max_age: Option<u32>,
    /// The title.
    pub title: Option<String>,
    /// The owner.
    pub owner: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The end of its validity.
    pub expires: Option<WrittenDate>,
    /// Since when it is retired.
    pub retired: Option<WrittenRetirement>,
    /// An archived copy of the target.
    pub archive: Option<String>,
}

/// Why a row is not a link that can be taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowError {
    /// Its bytes are not text.
    #[error("this is not UTF-8")]
    NotUtf8,
    /// A quote is not closed before the end of the file.
    #[error("a quote that begins here is not closed")]
    OpenQuote,
    /// It has more or fewer fields than the header, or than the format has.
    #[error("this has {found} fields, expected {expected}")]
    Fields {
        /// The actual number.
        found: usize,
        /// The expected number.
        expected: usize,
    },
    /// It is not the JSON of a link.
    #[error("this is not the JSON of a link: {0}")]
    Json(String),
    /// A value is not valid for its key.
    #[error("{key:?} cannot be {value:?}{}", in_column(.column.as_deref()))]
    Value {
        /// The key of a table.
        key: &'static str,
        /// The beginning of the value.
        value: String,
        /// The name of the column, if the format has columns and it is another than the key.
        column: Option<String>,
    },
    /// Its short link is not under the base URL of the exported site.
    #[error("{short_link:?} is not under {base_url}")]
    Elsewhere {
        /// The beginning of the short link.
        short_link: String,
        /// The base URL.
        base_url: String,
    },
    /// A table has no entry for it.
    #[error("{0}")]
    NoLink(&'static str),
    /// It refers to a variable.
    #[error("the URL depends on a variable: {0:?}")]
    Variable(String),
    /// The file contains only some of its declared links.
    #[error("the file ends after {included} of {total} links")]
    Incomplete {
        /// The number of links in the file.
        included: u64,
        /// The total number of links.
        total: u64,
    },
}

impl RowError {
    pub(crate) fn value(key: &'static str, value: &str) -> Self {
        Self::Value {
            key,
            value: excerpt(value),
            column: None,
        }
    }

    /// Adds the name that a column has in the file, if this is about a column.
    pub(crate) fn in_column(mut self, name: impl FnOnce(&str) -> Option<String>) -> Self {
        if let Self::Value { key, column, .. } = &mut self {
            let name = name(key).filter(|name| name != key);
            *column = name.map(|name| excerpt(&name));
        }
        self
    }

    /// Returns a hint, unless the message already contains it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Elsewhere { .. } => "name the base URL where the links come from",
            Self::Incomplete { .. } => {
                "ask for all of them at once, or put the pages one after the other"
            }
            _ => return None,
        })
    }
}

fn in_column(name: Option<&str>) -> String {
    name.map(|name| format!(" (column {name:?})"))
        .unwrap_or_default()
}

/// Returns the beginning of a text.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Reads a status; `Ok(None)` of an empty text.
pub(crate) fn status(text: &str) -> Result<Option<Status>, RowError> {
    if text.is_empty() {
        return Ok(None);
    }
    let status = text.parse().ok().and_then(Status::from_code);
    status.map_or_else(|| Err(RowError::value("status", text)), |it| Ok(Some(it)))
}

/// Reads which parts of a request are carried over.
pub(crate) fn forward(text: &str) -> Result<Option<Forward>, RowError> {
    if text.is_empty() {
        return Ok(None);
    }
    let found = Forward::ALL.into_iter().find(|it| it.name() == text);
    found.map_or_else(|| Err(RowError::value("forward", text)), |it| Ok(Some(it)))
}

/// Reads the end of a link's validity.
pub(crate) fn expires(text: &str) -> Result<Option<WrittenDate>, RowError> {
    date("expires", text)
}

/// Reads the time since when a link is retired.
pub(crate) fn retired(text: &str) -> Result<Option<WrittenRetirement>, RowError> {
    match text {
        "true" => Ok(Some(WrittenRetirement::Always)),
        "false" => Ok(None),
        _ => Ok(date("retired", text)?.map(WrittenRetirement::From)),
    }
}

fn date(key: &'static str, text: &str) -> Result<Option<WrittenDate>, RowError> {
    if text.is_empty() {
        return Ok(None);
    }
    let date = text.parse().map(Some);
    date.map_err(|_| RowError::value(key, text))
}
