//! Requested edits: which entry, what it was when that was decided, and what it is given.

use super::content::EntryContent;
use super::value::EntryValue;
use crate::registry::decide::MayShadow;

/// An edit of an entry, as requested.
#[derive(Debug, Clone)]
pub struct EntryEdit {
    /// The base URL of its site; `None` is the only site that has the link.
    pub site: Option<String>,
    /// One of its codes, or its short link.
    pub link: String,
    /// What it must still say, if that matters: otherwise the edit is refused.
    pub before: Option<EntryContent>,
    /// What it is given: each key once.
    pub values: Vec<EntryValue>,
    /// Which links its new codes, or its new forwarding, may shadow.
    pub may_shadow: MayShadow,
    /// Whether it may lose aliases, which may have been published.
    pub may_lose_aliases: bool,
}
