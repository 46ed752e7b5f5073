//! One row of a foreign format: a link for a table, or why it is refused.
//!
//! A link here is as another program describes it. Whether its URL and its codes are valid, and
//! whether the codes are free, is decided when it is imported into a table.

use std::borrow::Cow;

use thiserror::Error;
use url::Url;

use super::deviation::Deviation;
use crate::mapping::{
    Case, Code, CodeError, Forward, OwnedVariant, Status, Target, TargetError, WrittenDate,
    WrittenRetirement,
};

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
    /// Which of the base URLs in the options its short link is under.
    pub site: usize,
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
    /// The URL to which paths below its codes are appended.
    pub below: Option<String>,
    /// Other targets for some media types.
    pub variants: Vec<OwnedVariant>,
    /// How its answers differ from those of the other program.
    pub deviations: Vec<Deviation>,
}

/// Why a row is not a link that can be imported.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowError {
    /// Its bytes are not text.
    #[error("this is not UTF-8")]
    NotUtf8,
    /// A quote is not closed before the end of the file.
    #[error("a quote that starts here is not closed")]
    OpenQuote,
    /// A field is not quoted as RFC 4180 says, so that other rows may be in it.
    #[error(
        "the quotes of this row are not closed, or not doubled within a field; it is read up to line \
         {last_line}, and no link of these lines is imported"
    )]
    Quotes {
        /// The last line of the row.
        last_line: usize,
    },
    /// It has more or fewer fields than the header, or than the format has.
    #[error("this has {found} fields, expected {expected}")]
    Fields {
        /// The actual number.
        found: usize,
        /// The expected number.
        expected: usize,
    },
    /// The other program answers something that a table cannot.
    #[error(
        "column {column} restricts this link, or leads some requests elsewhere, which a table cannot: \
         {value:?}"
    )]
    Restricted {
        /// The number of the column, from 1.
        column: usize,
        /// The beginning of its value.
        value: String,
    },
    /// It is not the JSON of a link.
    #[error("this is not the JSON of a link: {message}{}", in_field(.field.as_deref()))]
    Json {
        /// What is wrong.
        message: String,
        /// Where in the row.
        field: Option<String>,
    },
    /// A value is not valid for its key.
    #[error("{key:?} cannot be {value:?}{}", in_field(.field.as_deref()))]
    Value {
        /// The key of a table.
        key: &'static str,
        /// The beginning of the value.
        value: String,
        /// Its column or key in the file, if it has another name there.
        field: Option<String>,
    },
    /// A URL cannot be a target.
    #[error("{error}{}", in_field(.field.as_deref()))]
    Target {
        /// The key of a table.
        key: &'static str,
        /// What is wrong.
        error: TargetError,
        /// Its column or key in the file.
        field: Option<String>,
    },
    /// A code is outside the grammar, or reserved.
    #[error("{error}{}", in_field(.field.as_deref()))]
    Code {
        /// The key of a table.
        key: &'static str,
        /// What is wrong.
        error: CodeError,
        /// Its column or key in the file.
        field: Option<String>,
    },
    /// Its short link is not under a base URL of the options.
    #[error("{short_link:?} is not under {base_urls}")]
    Elsewhere {
        /// The beginning of the short link.
        short_link: String,
        /// The first of the base URLs.
        base_urls: String,
    },
    /// There are several base URLs, and the row has only a code.
    #[error("this has a code, but not the base URL of its short link, and there are several sites")]
    NoSite,
    /// A table has no entry for it.
    #[error("{0}")]
    NoLink(&'static str),
    /// Only a part of what the row redirects is imported.
    #[error("{0}")]
    Partly(Cow<'static, str>),
    /// It is the short link of no code.
    #[error("this is the base URL itself, not a code")]
    BaseUrl,
    /// Another line of the file decides what is answered to some of its paths.
    #[error("{by} decides what is answered to this path, or to some of these paths")]
    Covered {
        /// The place of the other line.
        by: String,
    },
    /// It ignores case, and the table does not.
    #[error("this ignores the case of letters, and the codes of this table do not")]
    AnyCase,
    /// It refers to a variable.
    #[error("the URL depends on a variable: {0:?}")]
    Variable(String),
    /// A dump has the links of several tables.
    #[error("this dump has the links of several tables: {0}")]
    Tables(String),
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
    /// The reason for paths below a code that lead to one URL, unlike the code itself.
    pub(crate) const TO_ONE_URL: Self = Self::NoLink(
        "a table does not lead all that is below a code to one URL, and the code itself to another",
    );

    /// The reason for a URL to which a table appends no path.
    pub(crate) const MISFIT: Self =
        Self::NoLink("a path cannot be appended to a URL that ends like this");

    /// The reason for a row of which only a part is imported, which the reason names.
    pub(crate) const fn partly(reason: &'static str) -> Self {
        Self::Partly(Cow::Borrowed(reason))
    }

    /// Makes this the reason for a part of a row, if others of its parts are imported.
    pub(crate) fn for_part(self, are_others_imported: bool) -> Self {
        match (&self, are_others_imported) {
            (Self::Partly(_), _) | (_, false) => self,
            (_, true) => Self::Partly(self.to_string().into()),
        }
    }

    pub(crate) fn value(key: &'static str, value: &str) -> Self {
        Self::Value {
            key,
            value: excerpt(value),
            field: None,
        }
    }

    /// Reports an error of a row that is one line of JSON, or of a whole file.
    pub(crate) fn json(error: &serde_json::Error) -> Self {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = error.to_string();
        Self::Json {
            message: message.strip_suffix(&place).unwrap_or(&message).to_owned(),
            field: Some(format!("column {}", error.column())).filter(|_| !error.is_data()),
        }
    }

    /// Adds the file's name for a key of a table, such as `column "URL"`, unless the message
    /// already contains it.
    pub(crate) fn in_field(mut self, name: impl FnOnce(&str) -> Option<String>) -> Self {
        match &mut self {
            Self::Value { key, field, .. } => {
                *field = name(key).filter(|name| !name.ends_with(&format!(" {key:?}")));
            }
            Self::Target { key, field, .. } | Self::Code { key, field, .. } => *field = name(key),
            _ => {}
        }
        self
    }

    /// Returns the common reason of refused rows: the message without the parts that differ between
    /// rows.
    pub fn reason(&self) -> String {
        let in_own_place = |field: &Option<String>| in_field(field.as_deref());
        match self {
            Self::Value { key, field, .. } => format!("{key:?}{}", in_own_place(field)),
            Self::Variable(_) => "variable".to_owned(),
            Self::Quotes { .. } => "quotes".to_owned(),
            Self::Covered { .. } => "covered".to_owned(),
            Self::Elsewhere { short_link, .. } => {
                let url = Url::parse(short_link).ok();
                format!("from {:?}", url.as_ref().and_then(Url::host_str))
            }
            // A wrong value is quoted.
            Self::Json { message, field } if message.starts_with("invalid") => {
                let kind = message.split(['`', '"']).next().unwrap_or_default();
                format!("{kind}{}", in_own_place(field))
            }
            Self::Json { message, .. } => message.clone(),
            _ => self.to_string(),
        }
    }

    /// Returns a hint, unless the message already contains it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Target { error, .. } => return error.hint(),
            Self::Code { error, .. } => return error.hint(),
            Self::Elsewhere { .. } => "name the base URL where the links come from",
            Self::AnyCase => "a table with `case: fold` accepts it",
            Self::NoSite => "name the site of the links",
            Self::BaseUrl => "write where it leads as \"home\" of the table",
            Self::Tables(_) => "import a dump of one of them at a time",
            Self::Incomplete { .. } => "request all links at once, or concatenate the pages",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// Returns the target that a URL is, given the key of a table that it is for.
pub(crate) fn target<'u>(key: &'static str, url: &'u str) -> Result<Target<'u>, RowError> {
    Target::parse(url).map_err(|error| RowError::Target {
        key,
        error,
        field: None,
    })
}

impl ImportedLink {
    /// Notes that the other program finds the code in any case, if that differs from what a table with this
    /// setting does.
    pub(crate) fn note_any_case(&mut self, case: Case) {
        let code = self.code.as_deref().unwrap_or_default();
        if case == Case::Exact && code.contains(char::is_alphabetic) {
            self.deviations.push(Deviation::Case);
        }
    }

    /// Checks the URLs and codes here, where the place of each in the file is known.
    pub(crate) fn checked(self) -> Result<Self, RowError> {
        for (key, url) in [
            ("url", &self.url),
            ("archive", &self.archive),
            ("below", &self.below),
        ] {
            let Some(url) = url else { continue };
            target(key, url)?;
        }
        let own = self.code.iter().map(|code| ("short-code", code));
        let aliases = self.aliases.iter().map(|code| ("aliases", code));
        for (key, code) in own.chain(aliases) {
            Code::custom(code).map_err(|error| RowError::Code {
                key,
                error,
                field: None,
            })?;
        }
        Ok(self)
    }
}

fn in_field(field: Option<&str>) -> String {
    field.map(|field| format!(" ({field})")).unwrap_or_default()
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
