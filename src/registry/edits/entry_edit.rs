//! Requested edits: which entry, by whom, what it was when that was decided, and what it is given.

use std::sync::Arc;

use super::content::EntryContent;
use super::entry_tag::EntryTag;
use super::value::EntryValue;
use crate::registry::decide::MayShadow;

/// An edit of an entry, as requested.
#[derive(Debug, Clone)]
pub struct EntryEdit {
    /// The base URL of its site; `None` is the only site that has the link.
    pub site: Option<String>,
    /// One of its codes, or its short link.
    pub link: String,
    /// Whose entries may be edited.
    pub right: EditRight,
    /// What it must still say: otherwise the edit is refused.
    pub expected: ExpectedContent,
    /// What it is given: each key once.
    pub values: Vec<EntryValue>,
    /// Which links its new codes, or its new forwarding, may shadow.
    pub may_shadow: MayShadow,
    /// Whether it may lose aliases, which may have been published.
    pub may_lose_aliases: bool,
    /// Whether its new target may be one that another live link of the site has.
    pub may_share_target: bool,
}

/// Whose entries an edit may change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EditRight {
    /// Those of all owners, and of none.
    #[default]
    Any,
    /// Those of this owner.
    OwnedBy(Arc<str>),
}

/// What an entry must say for an edit to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ExpectedContent {
    /// Anything.
    #[default]
    Any,
    /// This.
    Content(Box<EntryContent>),
    /// What has one of these tags; or else what the edit gives it, so that an edit whose answer was
    /// lost can be requested again (RFC 9110, 13.1.1).
    Tagged(Vec<EntryTag>),
}
