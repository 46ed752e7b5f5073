//! `waypost set`: changes what a table says about a link, except for where it leads.

use clap::ValueEnum;
use clap::builder::{BoolishValueParser, NonEmptyStringValueParser};

use super::arguments::property;
use super::editing::{self, Editing, EditingArgs};
use super::terminal::{Error, with_hint};
use crate::mapping::{Code, Forward, Status, Target, WrittenDate};
use crate::registry::{EntryValue, MayShadow};

/// Change the title, owner, tags and other properties of a link
///
/// Only what is named changes: every other byte of the table stays. Where the link leads is changed by
/// `waypost retarget`, and whether it works by `waypost retire` and `waypost restore`.
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
pub(super) struct Args {
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
    /// The title, for people
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    title: Option<String>,

    /// Who is responsible for the link
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    owner: Option<String>,

    /// A tag, instead of all that it has; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    tag: Vec<String>,

    /// Another code for the same link, besides those that it has; may be repeated
    #[arg(long, value_name = "CODE", allow_hyphen_values = true, value_parser = code)]
    alias: Vec<Code>,

    /// The redirect status
    #[arg(long, value_name = "STATUS", value_parser = property::status())]
    status: Option<Status>,

    /// Which part of a request is carried over to the URL
    #[arg(long, value_name = "WHAT", value_parser = property::forward())]
    forward: Option<Forward>,

    /// How long a redirect may be cached; 0 is not at all
    #[arg(long, value_name = "SECONDS")]
    cache_max_age: Option<u32>,

    /// The last day on which the link works, or the time until which it works (RFC 3339)
    #[arg(long, value_name = "DATE")]
    expires: Option<WrittenDate>,

    /// An archived copy of the target, shown once the link is gone
    #[arg(long, value_name = "URL", value_parser = editing::url)]
    archive: Option<Target<'static>>,

    /// Remove a property, or return to the table's default; may be repeated
    #[arg(long, value_name = "KEY")]
    unset: Vec<Key>,

    /// Let --unset remove aliases; a link that was published is a promise, which `waypost check --base`
    /// holds whatever is allowed here
    #[arg(long, value_parser = BoolishValueParser::new(), requires = "unset")]
    allow_alias_loss: bool,

    /// Allow new aliases, or what is forwarded, to change where published paths of other links lead; a
    /// commit of --commit, --push or --branch states that this is intended
    #[arg(long, env = "WAYPOST_ALLOW_SHADOWING", value_parser = BoolishValueParser::new())]
    allow_shadowing: bool,
}

/// A key that can be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Key {
    Title,
    Owner,
    #[value(alias = "tag")]
    Tags,
    #[value(alias = "alias")]
    Aliases,
    Status,
    Forward,
    CacheMaxAge,
    Expires,
    Archive,
}

impl Key {
    /// Returns the value of an entry that does not have it.
    fn removed(self) -> EntryValue {
        match self {
            Self::Title => EntryValue::Title(None),
            Self::Owner => EntryValue::Owner(None),
            Self::Tags => EntryValue::Tags(Vec::new()),
            Self::Aliases => EntryValue::Aliases(Vec::new()),
            Self::Status => EntryValue::Status(None),
            Self::Forward => EntryValue::Forward(None),
            Self::CacheMaxAge => EntryValue::CacheMaxAge(None),
            Self::Expires => EntryValue::Expires(None),
            Self::Archive => EntryValue::Archive(None),
        }
    }
}

pub(super) fn run(args: Args) -> Result<(), Error> {
    let may_shadow = MayShadow::of_flag(args.keys.allow_shadowing);
    let may_lose_aliases = args.keys.allow_alias_loss;
    args.link.run(Editing {
        may_shadow,
        may_lose_aliases,
        ..Editing::new("Change", args.keys.values()?)
    })
}

impl KeyArgs {
    /// Returns the values of the named keys.
    fn values(self) -> Result<Vec<EntryValue>, Error> {
        let mut unset = self.unset;
        // Aliases that replace all others.
        let replaces_aliases = !self.alias.is_empty() && unset.contains(&Key::Aliases);
        let aliases = match replaces_aliases {
            true => {
                unset.retain(|key| *key != Key::Aliases);
                EntryValue::Aliases(self.alias.clone())
            }
            false => EntryValue::MoreAliases(self.alias.clone()),
        };
        let given = [
            (Key::Title, self.title.map(|it| EntryValue::Title(Some(it)))),
            (Key::Owner, self.owner.map(|it| EntryValue::Owner(Some(it)))),
            (
                Key::Tags,
                (!self.tag.is_empty()).then_some(EntryValue::Tags(self.tag)),
            ),
            (Key::Aliases, (!self.alias.is_empty()).then_some(aliases)),
            (
                Key::Status,
                self.status.map(|it| EntryValue::Status(Some(it))),
            ),
            (
                Key::Forward,
                self.forward.map(|it| EntryValue::Forward(Some(it))),
            ),
            (
                Key::CacheMaxAge,
                (self.cache_max_age).map(|it| EntryValue::CacheMaxAge(Some(it))),
            ),
            (
                Key::Expires,
                self.expires.map(|it| EntryValue::Expires(Some(it))),
            ),
            (
                Key::Archive,
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
