//! New values of an entry: for each key but its own code, which no edit changes.

use super::content::EntryContent;
use crate::edit::KeyEdit;
use crate::mapping::{
    Code, Forward, OwnedVariant, Retired, Status, Target, WrittenDate, WrittenRetirement,
};

/// A new value of an entry, or the removal of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryValue {
    /// The target.
    Url(Target<'static>),
    /// The target, on a page to which no other entry of the table leads.
    UrlOfNewPage(Target<'static>),
    /// All its aliases.
    Aliases(Vec<Code>),
    /// Aliases in addition to the existing ones.
    MoreAliases(Vec<Code>),
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
    /// The URL to which paths below the codes are appended.
    Below(Option<Target<'static>>),
    /// All its variants.
    Variants(Vec<OwnedVariant>),
    /// How long a redirect may be cached, in seconds.
    CacheMaxAge(Option<u32>),
    /// The end of its validity.
    Expires(Option<WrittenDate>),
    /// The start of its retirement.
    Retired(Option<WrittenRetirement>),
    /// The start of its retirement, unless it is retired by then.
    RetiredBy(WrittenDate),
    /// Its link works again: it is not retired, has a target, and has not expired.
    Live,
    /// The archived copy of the target.
    Archive(Option<Target<'static>>),
    /// Removal of everything that names its target: the target, the URL for paths below, the variants, the
    /// archived copy, the title, and comments on their lines. Only for a retired entry.
    TakenDown,
}

impl EntryValue {
    /// Applies it to an entry with that content; returns the changes of the text.
    pub(super) fn give(&self, content: &mut EntryContent) -> Vec<KeyEdit> {
        let before = content.clone();
        let edits = self.put(content);
        // Defaults may change later, and a text may name things that the content does not.
        let is_always_written = matches!(
            self,
            Self::Status(_) | Self::Forward(_) | Self::CacheMaxAge(_) | Self::TakenDown
        );
        match is_always_written || *content != before {
            true => edits,
            false => Vec::new(),
        }
    }

    /// Sets it in a content; returns how it is written: nothing if the content shows that it stays.
    fn put(&self, content: &mut EntryContent) -> Vec<KeyEdit> {
        let url = |url: &Option<Target<'_>>| url.as_ref().map(|url| url.as_str().to_owned());
        let edit = match self {
            Self::Url(target) | Self::UrlOfNewPage(target) => {
                let target = Some(target.as_str().to_owned());
                content.target.clone_from(&target);
                KeyEdit::text("url", target)
            }
            Self::Aliases(codes) => {
                content.aliases = codes.iter().map(Code::to_string).collect();
                KeyEdit::texts("aliases", content.aliases.clone())
            }
            Self::MoreAliases(codes) => {
                for code in codes {
                    if content.codes().all(|it| it != code.as_str()) {
                        content.aliases.push(code.to_string());
                    }
                }
                KeyEdit::texts("aliases", content.aliases.clone())
            }
            Self::Title(title) => {
                content.title.clone_from(title);
                KeyEdit::text("title", title.clone())
            }
            Self::Owner(owner) => {
                content.owner.clone_from(owner);
                KeyEdit::text("owner", owner.clone())
            }
            Self::Tags(tags) => {
                content.tags.clone_from(tags);
                KeyEdit::texts("tags", tags.clone())
            }
            Self::Status(status) => {
                content.status = *status;
                KeyEdit::word("status", status.map(Status::code))
            }
            Self::Forward(forward) => {
                content.forward = *forward;
                KeyEdit::word("forward", forward.map(Forward::name))
            }
            Self::Below(below) => {
                content.below = url(below);
                KeyEdit::text("below", url(below))
            }
            Self::Variants(variants) => {
                content.variants = variants.iter().map(OwnedVariant::to_string).collect();
                KeyEdit::variants(variants.clone())
            }
            Self::CacheMaxAge(seconds) => {
                content.cache_max_age = *seconds;
                KeyEdit::word("cache-max-age", *seconds)
            }
            Self::Expires(date) => {
                content.expires = date.as_ref().map(WrittenDate::end);
                KeyEdit::word("expires", date.as_ref())
            }
            Self::Retired(since) => {
                content.retired = since.as_ref().map(WrittenRetirement::meaning);
                KeyEdit::word("retired", since.as_ref())
            }
            Self::RetiredBy(date) => {
                let is_by_then = match content.retired {
                    None => false,
                    Some(Retired::Always) => true,
                    Some(Retired::From(time)) => time <= date.start(),
                };
                if is_by_then {
                    return Vec::new();
                }
                content.retired = Some(Retired::From(date.start()));
                KeyEdit::word("retired", Some(date))
            }
            Self::Live => {
                content.retired = None;
                KeyEdit::word("retired", None::<&str>)
            }
            Self::Archive(copy) => {
                content.archive = url(copy);
                KeyEdit::text("archive", url(copy))
            }
            Self::TakenDown => {
                (content.target, content.below) = (None, None);
                (content.archive, content.title) = (None, None);
                content.variants.clear();
                let named = ["url", "below", "variants", "archive", "title"];
                return named.map(KeyEdit::erased).into();
            }
        };
        vec![edit]
    }
}
