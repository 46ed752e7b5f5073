//! Requested edits: the entry, the permission, the expected content, and the new values.

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
    /// The owner whose entries may be edited.
    pub right: EditRight,
    /// The content that it must still have: otherwise the edit is refused.
    pub expected: ExpectedContent,
    /// The new values: each key once.
    pub values: Vec<EntryValue>,
    /// Which links its new codes, or its new forwarding, may shadow.
    pub may_shadow: MayShadow,
    /// Whether it may lose aliases, which may have been published.
    pub may_lose_aliases: bool,
    /// Whether another live link of the site may already have its new target.
    pub may_share_target: bool,
}

/// The owner whose entries an edit may change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EditRight {
    /// Those of all owners, and of none.
    #[default]
    Any,
    /// Those of this owner.
    OwnedBy(Arc<str>),
}

/// The content that an entry must have for an edit to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ExpectedContent {
    /// Anything.
    #[default]
    Any,
    /// This.
    Content(Box<EntryContent>),
    /// Content with one of these tags; or the content after the edit, so that an edit whose answer
    /// was lost can be repeated (RFC 9110, 13.1.1).
    Tagged(Vec<EntryTag>),
}
