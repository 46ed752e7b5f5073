//! Links in JSON, for programs.

use serde::Serialize;

use crate::git::CommitId;
use crate::linkcheck::LinkSummary;
use crate::mapping::{Entry, Timestamp, Variant};
use crate::registry::EntryTag;

/// A link in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct LinkView {
    short_url: String,
    code: String,
    /// `None` if it is retired and its target was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    below: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    status: u16,
    forward: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variants: Vec<VariantView>,
    /// Whether the link is retired or expired.
    gone: bool,
    /// The commit of the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<CommitId>,
    /// `None` if links are not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    link_check: Option<LinkSummary>,
    #[serde(skip)]
    tag: EntryTag,
}

/// A variant of a link in JSON.
#[derive(Debug, Serialize)]
struct VariantView {
    accept: Vec<String>,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    below: Option<String>,
}

impl VariantView {
    fn of(variant: Variant<'_>) -> Self {
        Self {
            accept: variant.types().map(str::to_owned).collect(),
            url: variant.target().to_owned(),
            below: variant.below().map(str::to_owned),
        }
    }
}

impl LinkView {
    /// Returns the link of an entry in the table of a commit.
    pub(crate) fn of(entry: Entry<'_>, commit: Option<CommitId>, now: Timestamp) -> Self {
        Self {
            short_url: entry.short_url(),
            code: entry.code().into_owned(),
            url: entry.target().map(|target| target.into_owned()),
            below: entry.below().map(str::to_owned),
            aliases: entry.aliases().map(str::to_owned).collect(),
            title: entry.title().map(str::to_owned),
            owner: entry.owner().map(str::to_owned),
            tags: entry.tags().map(str::to_owned).collect(),
            status: entry.status().code(),
            forward: entry.forward().name(),
            variants: entry.variants().map(VariantView::of).collect(),
            gone: entry.is_gone(now),
            commit,
            link_check: None,
            tag: EntryTag::of(entry),
        }
    }

    /// Returns the short link.
    pub(crate) fn short_url(&self) -> &str {
        &self.short_url
    }

    /// Returns the tag of its entry.
    pub(crate) fn tag(&self) -> EntryTag {
        self.tag
    }

    /// Adds the result of the link check.
    pub(crate) fn checked(self, link_check: Option<LinkSummary>) -> Self {
        Self { link_check, ..self }
    }
}
