//! Requests: registration requests as given, not yet checked.

use std::sync::Arc;

use crate::mapping::{Forward, OwnedVariant, Status, WrittenDate};

/// A requested link.
#[derive(Debug, Clone, Default)]
pub struct RegistrationRequest {
    /// Its target.
    pub url: String,
    /// Its code.
    pub code: RequestedCode,
    /// Further codes.
    pub aliases: Vec<String>,
    /// The title.
    pub title: Option<String>,
    /// The owner.
    pub owner: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The redirect status; if none, the default of the document.
    pub status: Option<Status>,
    /// The parts of a request that are carried over to the target; if none, the default of the
    /// document.
    pub forward: Option<Forward>,
    /// The URL to which paths below its codes are appended.
    pub below: Option<String>,
    /// Its variants.
    pub variants: Vec<OwnedVariant>,
    /// The end of its validity.
    pub expires: Option<WrittenDate>,
    /// The base URL of the site. If there are several, one must be named, here or by a document.
    pub site: Option<String>,
    /// Where to write it.
    pub destination: Destination,
    /// Which links its codes may shadow.
    pub may_shadow: MayShadow,
}

/// The links that the codes of a new one may [shadow](crate::mapping::shadowed).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum MayShadow {
    /// None.
    #[default]
    None,
    /// Those of this owner.
    OwnedBy(Arc<str>),
    /// Any.
    Any,
}

impl MayShadow {
    /// Returns the permission that a flag for intended shadowing gives.
    pub fn of_flag(is_allowed: bool) -> Self {
        match is_allowed {
            true => Self::Any,
            false => Self::None,
        }
    }

    /// Returns whether an entry of this owner may be shadowed.
    pub(crate) fn allows(&self, owner: Option<&str>) -> bool {
        match self {
            Self::None => false,
            Self::OwnedBy(name) => owner == Some(name),
            Self::Any => true,
        }
    }
}

/// How a link gets its code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RequestedCode {
    /// The site's default for new links.
    #[default]
    Any,
    /// This one.
    Custom(String),
    /// The code of this number.
    Number(u64),
    /// The code of the number after the highest one of the site.
    NextNumber,
}

/// Where an entry is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// In a document of the site, by its path or file name; may be omitted if there is only one.
    Document(Option<String>),
    /// In a new file of its own, in the directory of that path.
    Fragment(String),
}

impl Default for Destination {
    fn default() -> Self {
        Self::Document(None)
    }
}
