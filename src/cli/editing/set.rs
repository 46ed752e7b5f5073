//! `waypost set`: changes the properties of a link, except for its target.

use std::time::SystemTime;

use clap::ValueEnum;
use clap::builder::BoolishValueParser;

use super::{Editing, EditingArgs};
use crate::cli::arguments::{property, quantity};
use crate::cli::terminal::{Error, with_hint};
use crate::mapping::{Code, Forward, Status, Target, WrittenDate};
use crate::registry::{EditedEntry, EntryValue, MayShadow};

/// Change the title, owner, tags and other properties of a link
///
/// Changes only the given properties; every other byte of the table stays the same. To change where
/// the link leads, use `waypost retarget`; to turn it off or on again, use `waypost retire` and
/// `waypost restore`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost set gnu-home --title 'The GNU system' --owner docs
  waypost set gnu-home --tag free --tag software       these tags, and no others
  waypost set gnu-home --alias gnu                     another code for it
  waypost set gnu-home --expires 2031-12-31            its last day
  waypost set gnu-home --unset expires --unset owner   no last day, and no owner
  waypost set https://short.code/gnu-home --status 301 --push
  waypost set gnu-home --forward path --dry-run        show what would change

Only the short link, or what a dry run shows, goes to standard output; everything else goes to
standard error.
Exit status: 0 the link is as requested; 1 there is no such link, the change is refused, or the
table has errors; 2 wrong usage; 3 the table cannot be read or written, or Git failed.")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten, next_help_heading = None::<&'static str>)]
    link: EditingArgs,
}

/// The keys to set or remove.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Properties")]
#[group(skip)]
struct KeyArgs {
    /// The title, shown on pages
    #[arg(long, value_name = "TEXT", value_parser = super::text)]
    title: Option<String>,

    /// The person or group responsible for the link
    #[arg(long, value_name = "NAME", value_parser = super::text)]
    owner: Option<String>,

    /// A tag, which replaces all existing tags; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = super::text)]
    tag: Vec<String>,

    /// Another code for the same link, in addition to those that it has; may be repeated
    #[arg(long, value_name = "CODE", allow_hyphen_values = true, value_parser = code)]
    alias: Vec<Code>,

    /// The redirect status
    #[arg(long, value_name = "STATUS", value_parser = property::status())]
    status: Option<Status>,

    /// Which parts of a request are passed on to the target
    #[arg(long, value_name = "WHAT", value_parser = property::forward())]
    forward: Option<Forward>,

    /// A URL to which paths below the code are appended; the target is then for the code alone
    #[arg(long, value_name = "URL", value_parser = super::url)]
    below: Option<Target<'static>>,

    /// How long a redirect may be cached; 0 disables caching
    #[arg(long, value_name = "SECONDS", value_parser = quantity::within(0..=u32::MAX))]
    cache_max_age: Option<u32>,

    /// The last day on which the link works, or the time until which it works (RFC 3339)
    #[arg(long, value_name = "DATE")]
    expires: Option<WrittenDate>,

    /// An archived copy of the target, shown once the link is gone
    #[arg(long, value_name = "URL", value_parser = super::url)]
    archive: Option<Target<'static>>,

    /// A property to remove, or to reset to the table's default; may be repeated
    #[arg(long, value_name = "KEY")]
    unset: Vec<RemovableKey>,

    /// Let --unset remove aliases; `waypost check --base` still reports each published alias that
    /// is lost
    #[arg(long, value_parser = BoolishValueParser::new(), requires = "unset")]
    allow_alias_loss: bool,

    /// Allow new aliases or new forwarding to change where published paths of other links lead; the
    /// commit that --commit, --push or --branch makes declares this
    #[arg(long, env = "WAYPOST_ALLOW_SHADOWING", value_parser = BoolishValueParser::new())]
    allow_shadowing: bool,
}

/// A key that can be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RemovableKey {
    Title,
    Owner,
    #[value(alias = "tag")]
    Tags,
    #[value(alias = "alias")]
    Aliases,
    Status,
    Forward,
    Below,
    CacheMaxAge,
    Expires,
    Archive,
}

impl RemovableKey {
    /// Returns the value that removes it from an entry.
    fn removed(self) -> EntryValue {
        match self {
            Self::Title => EntryValue::Title(None),
            Self::Owner => EntryValue::Owner(None),
            Self::Tags => EntryValue::Tags(Vec::new()),
            Self::Aliases => EntryValue::Aliases(Vec::new()),
            Self::Status => EntryValue::Status(None),
            Self::Forward => EntryValue::Forward(None),
            Self::Below => EntryValue::Below(None),
            Self::CacheMaxAge => EntryValue::CacheMaxAge(None),
            Self::Expires => EntryValue::Expires(None),
            Self::Archive => EntryValue::Archive(None),
        }
    }
}

pub(in crate::cli) fn run(args: Args) -> Result<(), Error> {
    let may_shadow = MayShadow::of_flag(args.keys.allow_shadowing);
    let may_lose_aliases = args.keys.allow_alias_loss;
    let sets_expires = args.keys.expires.is_some();
    let note = |entry: &EditedEntry| {
        let expired = entry.content.expired(SystemTime::now().into());
        let expired = expired.filter(|_| sets_expires)?;
        Some(format!(
            "it expired at {expired}, so the link no longer works"
        ))
    };
    args.link.run(Editing {
        may_shadow,
        may_lose_aliases,
        note: &note,
        ..Editing::new("Change", args.keys.values()?)
    })
}

impl KeyArgs {
    /// Returns the values of the named keys.
    fn values(self) -> Result<Vec<EntryValue>, Error> {
        let mut unset = self.unset;
        // Aliases that replace all others.
        let replaces_aliases = !self.alias.is_empty() && unset.contains(&RemovableKey::Aliases);
        let aliases = match replaces_aliases {
            true => {
                unset.retain(|key| *key != RemovableKey::Aliases);
                EntryValue::Aliases(self.alias.clone())
            }
            false => EntryValue::MoreAliases(self.alias.clone()),
        };
        let given = [
            (
                RemovableKey::Title,
                self.title.map(|it| EntryValue::Title(Some(it))),
            ),
            (
                RemovableKey::Owner,
                self.owner.map(|it| EntryValue::Owner(Some(it))),
            ),
            (
                RemovableKey::Tags,
                (!self.tag.is_empty()).then_some(EntryValue::Tags(self.tag)),
            ),
            (
                RemovableKey::Aliases,
                (!self.alias.is_empty()).then_some(aliases),
            ),
            (
                RemovableKey::Status,
                self.status.map(|it| EntryValue::Status(Some(it))),
            ),
            (
                RemovableKey::Forward,
                self.forward.map(|it| EntryValue::Forward(Some(it))),
            ),
            (
                RemovableKey::Below,
                self.below.map(|it| EntryValue::Below(Some(it))),
            ),
            (
                RemovableKey::CacheMaxAge,
                (self.cache_max_age).map(|it| EntryValue::CacheMaxAge(Some(it))),
            ),
            (
                RemovableKey::Expires,
                self.expires.map(|it| EntryValue::Expires(Some(it))),
            ),
            (
                RemovableKey::Archive,
                self.archive.map(|it| EntryValue::Archive(Some(it))),
            ),
        ];
        let mut values = Vec::new();
        for (key, value) in given {
            match (value, unset.contains(&key)) {
                (Some(_), true) => {
                    let name = key.to_possible_value();
                    let name = name.as_ref().map_or("", |it| it.get_name());
                    let message = format!("{name:?} cannot be both set and unset");
                    return Err(Error::usage(message));
                }
                (Some(value), false) => values.push(value),
                (None, true) => values.push(key.removed()),
                (None, false) => {}
            }
        }
        match values.is_empty() {
            true => Err(Error::usage(
                "name what to change, such as --title TEXT or --unset KEY",
            )),
            false => Ok(values),
        }
    }
}

fn code(text: &str) -> Result<Code, String> {
    Code::custom(text).map_err(|error| with_hint(&error, error.hint()))
}
