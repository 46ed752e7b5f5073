//! Refusals: why a request is not registered.

use thiserror::Error;

use super::reach::CodeUnreachable;
use crate::mapping::{
    CodeError, Diagnostic, Entry, Misfit, Place, TargetError, Timestamp, UnknownSite, first_of,
};
use crate::registry::text::NotCompiled;

/// Why a request is not registered.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RegistrationRefusal {
    /// The URL cannot be a target.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The table already has errors.
    #[error("the table has errors, so nothing was added to it")]
    TableHasErrors(Vec<Diagnostic>),
    /// A URL is under a site of the table.
    #[error("the URL is already a short link of this table")]
    OwnLink {
        /// Its key.
        key: &'static str,
    },
    /// The URL has a short link, which may be retired or expired.
    #[error("ERR-000-02-00: URL already registered")]
    AlreadyRegistered(Box<Holder>),
    /// The code is outside the grammar, or reserved.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// The code leads elsewhere, or did before it was retired.
    #[error("the code {code:?} is taken by the entry at {}", holder.place)]
    CodeTaken {
        /// The code.
        code: String,
        /// The entry that has it.
        holder: Box<Holder>,
    },
    /// The code would change where a path leads that another entry currently answers.
    #[error(
        "the code {code:?} would change where {path:?} leads, which {:?} at {} answers",
        holder.code, holder.place
    )]
    Shadows {
        /// The code.
        code: String,
        /// The path, relative to the base path.
        path: String,
        /// The entry that answers it.
        holder: Box<Holder>,
    },
    /// The code belongs to another imported link.
    #[error("the code {code:?} is taken by line {line}")]
    CodeTakenByLine {
        /// The code.
        code: String,
        /// The line of the other link.
        line: usize,
    },
    /// The URL belongs to another imported link, which is retired or expired.
    #[error("the URL is that of line {line}, which is retired or expired")]
    GoneByLine {
        /// The line of the other link.
        line: usize,
    },
    /// An imported link has no target.
    #[error("there is no URL")]
    NoUrl,
    /// An imported link has another URL, but no target.
    #[error("there is {key:?}, but no URL")]
    NoUrlBut {
        /// The key of the other URL.
        key: &'static str,
    },
    /// Only a variant says where paths below the code lead.
    #[error("only a variant says where paths below the code lead")]
    BelowOfVariantOnly,
    /// The URL does not allow the requested forwarding.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The URL does not allow the forwarding that the document's defaults request.
    #[error("{0}, and the defaults of its file set this forwarding")]
    DefaultMisfit(Misfit),
    /// The same code is requested twice.
    #[error("the code {code:?} is given twice")]
    CodeRepeated {
        /// The code.
        code: String,
    },
    /// No number is left after the highest one.
    #[error("no number is left after the highest one")]
    NoNumberLeft,
    /// A human-readable text contains a control character.
    #[error(transparent)]
    ControlCharacter(#[from] ControlCharacter),
    /// The link would never work.
    #[error("the link would have expired already")]
    Expired,
    /// Another site of the same host answers the path of a code.
    #[error(transparent)]
    CodeUnreachable(#[from] CodeUnreachable),
    /// The table does not have the named site.
    #[error(transparent)]
    UnknownSite(#[from] UnknownSite),
    /// There are several sites, and none is named.
    #[error("the table has several sites: {}", first_of(sites))]
    SeveralSites {
        /// Their base URLs.
        sites: Vec<String>,
    },
    /// The site does not have the named document.
    #[error("the site has no file {file:?}, only {}", first_of(files))]
    UnknownFile {
        /// The name given.
        file: String,
        /// The existing paths.
        files: Vec<String>,
    },
    /// There are several documents, and none is named.
    #[error("the site has several files: {}", first_of(files))]
    SeveralFiles {
        /// Their paths.
        files: Vec<String>,
    },
    /// The new file already exists.
    #[error("{path} already exists")]
    FileExists {
        /// Its path.
        path: String,
    },
    /// The name of a file for the entry would be too long.
    #[error("the name of a file for the code {code:?} would be too long")]
    NameTooLong {
        /// The code.
        code: String,
    },
    /// The entry cannot be inserted safely into the document.
    #[error("the entry cannot be inserted")]
    CannotInsert {
        /// Why, and where.
        problems: Vec<Diagnostic>,
        /// The entry, for manual insertion.
        entry: String,
    },
    /// No entry can be inserted safely into the document.
    #[error("the entries cannot be inserted")]
    CannotInsertAny {
        /// Why, and where.
        problems: Vec<Diagnostic>,
    },
    /// The text of the table has changed since it was read.
    #[error("{path} was changed at the same time")]
    TextLost {
        /// The path of a file.
        path: String,
    },
    /// With the entries, the table would exceed its maximum size.
    #[error("the table would be larger than {max_bytes} bytes")]
    TooLarge {
        /// The maximum number of bytes.
        max_bytes: u64,
    },
    /// With the entry, the table would have errors.
    #[error("the table would have errors")]
    Unsound {
        /// The new errors. Their places are in a text that was not written.
        problems: Vec<Diagnostic>,
    },
    /// The result would not be the table plus this entry.
    #[error("adding the entry would also change other entries")]
    SideEffects,
}

/// A control character in a human-readable text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the {what} contains the control character {character:?}")]
pub struct ControlCharacter {
    /// Which text.
    pub what: &'static str,
    /// The character.
    pub character: char,
}

/// An existing entry that prevents a registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The base URL of its site.
    pub site: String,
    /// Its code.
    pub code: String,
    /// Its short link.
    pub short_url: String,
    /// Its target, if it has not dropped it.
    pub target: Option<String>,
    /// Its place.
    pub place: Place,
    /// Whether the link is retired or expired. Its codes remain taken.
    pub is_gone: bool,
}

impl Holder {
    pub(crate) fn of(entry: Entry<'_>, now: Timestamp) -> Box<Self> {
        Box::new(Self {
            site: entry.site().base_url().as_str().to_owned(),
            code: entry.code().into_owned(),
            short_url: entry.short_url(),
            target: entry.target().map(|target| target.into_owned()),
            place: entry.place(),
            is_gone: entry.is_gone(now),
        })
    }
}

impl From<NotCompiled> for RegistrationRefusal {
    fn from(why: NotCompiled) -> Self {
        match why {
            NotCompiled::Errors(errors) => Self::TableHasErrors(errors),
            NotCompiled::Lost(path) => Self::TextLost { path },
        }
    }
}

impl RegistrationRefusal {
    /// Returns a hint that applies however the request was made, unless the message already
    /// contains it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Target(error) => return error.hint(),
            Self::Code(error) => return error.hint(),
            Self::Misfit(misfit) => misfit.hint().to_owned(),
            Self::DefaultMisfit(_) => "give it \"forward: none\"".to_owned(),
            Self::NoUrlBut { .. } => "add the URL, or leave out what was taken down".to_owned(),
            Self::BelowOfVariantOnly => "add \"below\", for all other requests".to_owned(),
            Self::OwnLink { .. } => "register the URL that it leads to instead".to_owned(),
            Self::CodeTaken { holder, .. } => match &holder.target {
                _ if holder.is_gone => {
                    "it is retired or expired, and its code stays taken: choose another".to_owned()
                }
                Some(target) => format!("it leads to {target}: choose another code"),
                None => "choose another code".to_owned(),
            },
            Self::Shadows { .. } => "choose another code".to_owned(),
            Self::CodeUnreachable(_) => CodeUnreachable::HINT.to_owned(),
            Self::Expired => "give it a later date, or none".to_owned(),
            Self::NameTooLong { .. } => "choose a shorter code".to_owned(),
            _ => return None,
        })
    }
}
