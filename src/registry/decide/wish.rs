//! Wishes: what somebody wants registered, as they said it and not yet checked.

use std::sync::Arc;

use crate::mapping::{Forward, Status};

/// A link that somebody wants.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// Where it shall lead.
    pub url: String,
    /// Its code.
    pub code: WishedCode,
    /// Further codes.
    pub aliases: Vec<String>,
    /// The title.
    pub title: Option<String>,
    /// Who answers for it.
    pub owner: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The redirect status; if none, the default of the document.
    pub status: Option<Status>,
    /// What is carried over to the target; if none, the default of the document.
    pub forward: Option<Forward>,
    /// Until when it holds: an RFC 3339 date or date-time.
    pub expires: Option<String>,
    /// The base URL of the site. Of several sites, one has to be named, here or by a document.
    pub site: Option<String>,
    /// Where it shall be written.
    pub destination: Destination,
    /// Which links its codes may shadow.
    pub may_shadow: MayShadow,
}

/// Which links the codes of a new one may [shadow](crate::mapping::shadowed).
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
    /// Returns what a person allows who says that shadowing is meant, or does not.
    pub fn of_flag(is_meant: bool) -> Self {
        match is_meant {
            true => Self::Any,
            false => Self::None,
        }
    }

    /// Returns whether an entry may be shadowed that has this owner.
    pub(crate) fn allows(&self, owner: Option<&str>) -> bool {
        match self {
            Self::None => false,
            Self::OwnedBy(name) => owner == Some(name),
            Self::Any => true,
        }
    }
}

/// How a link shall come by its code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WishedCode {
    /// As the site makes codes for new links.
    #[default]
    Any,
    /// It shall be this one.
    Custom(String),
    /// That of this number.
    Number(u64),
    /// That of the number behind the highest one of the site.
    NextNumber,
}

/// Where an entry shall be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// In a document of the site, by its path or file name; it may go unnamed if there is only one.
    Document(Option<String>),
    /// In a new file of its own, in the directory of that path.
    Fragment(String),
}

impl Default for Destination {
    fn default() -> Self {
        Self::Document(None)
    }
}
