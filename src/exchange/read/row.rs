//! One row of a foreign form: a link that may go into a table, or why it is none.
//!
//! A link here is what someone else's program knows of it. Whether its URL and its codes are sound,
//! and whether the codes are free, is decided where it is taken into a table.

use thiserror::Error;

use crate::mapping::{Forward, Status, Timestamp};

/// How much of a text that is not understood is shown.
const SHOWN_CHARS: usize = 80;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The line on which it begins, from 1.
    pub line: usize,
    /// What it says.
    pub link: Result<Link, RowError>,
}

/// A link as a row tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub url: Option<String>,
    /// Its code, if it has one: what stands behind the base URL.
    pub code: Option<String>,
    /// The number whose code it has.
    pub number: Option<u64>,
    /// Further codes.
    pub aliases: Vec<String>,
    /// The redirect status, if it is known.
    pub status: Option<Status>,
    /// What is carried over to the target, if it is known.
    pub forward: Option<Forward>,
    /// How long the redirect may be cached, in seconds.
    pub cache_max_age: Option<u32>,
    /// The title.
    pub title: Option<String>,
    /// Who answers for it.
    pub owner: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// Until when it holds: an RFC 3339 date or date-time.
    pub expires: Option<String>,
    /// Since when it is retired: `true`, or an RFC 3339 date or date-time.
    pub retired: Option<String>,
    /// An archived copy of the target.
    pub archive: Option<String>,
}

/// Why a row is no link that could be taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowError {
    /// Its bytes are no text.
    #[error("this is not UTF-8")]
    NotUtf8,
    /// A quote that opens is not closed before the file ends.
    #[error("a quote that begins here is not closed")]
    OpenQuote,
    /// It has more or fewer fields than the header, or than the form knows.
    #[error("this has {found} fields, expected {expected}")]
    Fields {
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// It is not the JSON of a link.
    #[error("this is not the JSON of a link: {0}")]
    Json(String),
    /// A value is not one that its key can have.
    #[error("{key:?} cannot be {value:?}")]
    Value {
        /// The key of a table.
        key: &'static str,
        /// The beginning of the value.
        value: String,
    },
    /// Its short link is not under the base URL where the links come from.
    #[error("{short_link:?} is not under {base_url}")]
    Elsewhere {
        /// The beginning of the short link.
        short_link: String,
        /// The base URL.
        base_url: String,
    },
    /// It is something that a table has no entry for.
    #[error("{0}")]
    NoLink(&'static str),
    /// It refers to a variable.
    #[error("the URL depends on a variable: {0:?}")]
    Variable(String),
    /// The file holds only some of the links that it speaks of.
    #[error("the file ends after {held} of {total} links")]
    Incomplete {
        /// How many it holds.
        held: u64,
        /// How many there are.
        total: u64,
    },
}

impl RowError {
    pub(super) fn value(key: &'static str, value: &str) -> Self {
        let value = excerpt(value);
        Self::Value { key, value }
    }

    /// Returns the way out, where the message does not already name it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Elsewhere { .. } => "name the base URL where the links come from with --from",
            Self::Incomplete { .. } => {
                "ask for all of them at once, or put the pages one behind the other"
            }
            _ => return None,
        })
    }
}

/// Returns the beginning of a text.
pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Reads a status; `Ok(None)` of an empty text.
pub(super) fn status(text: &str) -> Result<Option<Status>, RowError> {
    if text.is_empty() {
        return Ok(None);
    }
    let status = text.parse().ok().and_then(Status::from_code);
    status.map_or_else(|| Err(RowError::value("status", text)), |it| Ok(Some(it)))
}

/// Reads what is carried over.
pub(super) fn forward(text: &str) -> Result<Option<Forward>, RowError> {
    if text.is_empty() {
        return Ok(None);
    }
    let found = Forward::ALL.into_iter().find(|it| it.name() == text);
    found.map_or_else(|| Err(RowError::value("forward", text)), |it| Ok(Some(it)))
}

/// Reads until when a link holds.
pub(super) fn expires(text: &str) -> Result<Option<String>, RowError> {
    time("expires", text)
}

/// Reads since when a link is retired.
pub(super) fn retired(text: &str) -> Result<Option<String>, RowError> {
    match text {
        "true" => Ok(Some(text.to_owned())),
        "false" => Ok(None),
        _ => time("retired", text),
    }
}

fn time(key: &'static str, text: &str) -> Result<Option<String>, RowError> {
    if text.is_empty() {
        return Ok(None);
    }
    match Timestamp::parse_start(text) {
        Some(_) => Ok(Some(text.to_owned())),
        None => Err(RowError::value(key, text)),
    }
}
