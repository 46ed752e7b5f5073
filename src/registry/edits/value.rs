//! Values that an entry is given: one for each key but its own code, which no edit changes.

use super::content::EntryContent;
use crate::edit::KeyEdit;
use crate::mapping::{Code, Forward, Status, Target, WrittenDate, WrittenRetirement};

/// A value that an entry is given, or that is taken from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryValue {
    /// The target; a retired entry may drop it.
    Url(Option<Target<'static>>),
    /// All its aliases.
    Aliases(Vec<Code>),
    /// The title.
    Title(Option<String>),
    /// The owner.
    Owner(Option<String>),
    /// All its tags.
    Tags(Vec<String>),
    /// The redirect status; `None` returns to the default of the document, as for the next two.
    Status(Option<Status>),
    /// Which parts of a request are forwarded.
    Forward(Option<Forward>),
    /// How long a redirect may be cached, in seconds.
    CacheMaxAge(Option<u32>),
    /// The end of its validity.
    Expires(Option<WrittenDate>),
    /// The start of its retirement.
    Retired(Option<WrittenRetirement>),
    /// The archived copy of the target.
    Archive(Option<Target<'static>>),
}

impl EntryValue {
    /// Returns how it is written.
    pub(super) fn written(&self) -> KeyEdit {
        let url = |url: &Option<Target<'_>>| url.as_ref().map(|url| url.as_str().to_owned());
        match self {
            Self::Url(target) => KeyEdit::text("url", url(target)),
            Self::Aliases(codes) => {
                let codes = codes.iter().map(|code| code.as_str().to_owned());
                KeyEdit::texts("aliases", codes.collect())
            }
            Self::Title(title) => KeyEdit::text("title", title.clone()),
            Self::Owner(owner) => KeyEdit::text("owner", owner.clone()),
            Self::Tags(tags) => KeyEdit::texts("tags", tags.clone()),
            Self::Status(status) => KeyEdit::word("status", status.map(Status::code)),
            Self::Forward(forward) => KeyEdit::word("forward", forward.map(Forward::name)),
            Self::CacheMaxAge(seconds) => KeyEdit::word("cache-max-age", *seconds),
            Self::Expires(date) => KeyEdit::word("expires", date.as_ref()),
            Self::Retired(since) => KeyEdit::word("retired", since.as_ref()),
            Self::Archive(copy) => KeyEdit::text("archive", url(copy)),
        }
    }

    /// Gives it to an entry with that content; returns whether that changes it.
    pub(super) fn give(&self, content: &mut EntryContent) -> bool {
        let url = |url: &Option<Target<'_>>| url.as_ref().map(|url| url.as_str().to_owned());
        let before = content.clone();
        match self {
            Self::Url(target) => content.target = url(target),
            Self::Aliases(codes) => {
                let codes = codes.iter().map(|code| code.as_str().to_owned());
                content.aliases = codes.collect();
            }
            Self::Title(title) => content.title.clone_from(title),
            Self::Owner(owner) => content.owner.clone_from(owner),
            Self::Tags(tags) => content.tags.clone_from(tags),
            Self::Status(status) => content.status = *status,
            Self::Forward(forward) => content.forward = *forward,
            Self::CacheMaxAge(seconds) => content.cache_max_age = *seconds,
            Self::Expires(date) => content.expires = date.as_ref().map(WrittenDate::end),
            Self::Retired(since) => {
                content.retired = since.as_ref().map(WrittenRetirement::meaning);
            }
            Self::Archive(copy) => content.archive = url(copy),
        }
        *content != before
    }
}
