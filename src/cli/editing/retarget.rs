//! `waypost retarget`: makes a link lead elsewhere.

use clap::builder::BoolishValueParser;

use super::{Editing, EditingArgs};
use crate::cli::terminal::Error;
use crate::mapping::Target;
use crate::registry::{EditedEntry, EntryValue, MayShadow};

/// Make a link lead to another URL
///
/// The code stays the same: a code that was derived from the old URL is written out. A published
/// link is a promise, so the change must be declared: the commit that --commit, --push or --branch
/// makes has the trailer `Waypost-Allow: retarget CODE`, and `waypost check --base` then accepts
/// it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost retarget gnu-home https://www.gnu.org/software/
  waypost retarget gnu-home https://www.gnu.org/software/ --dry-run    show what would change
  waypost retarget gnu-home https://www.gnu.org/software/ --commit     in the checkout
  waypost retarget gnu-home https://www.gnu.org/software/ --branch new-gnu-home    for review

Only the short link, or what a dry run shows, goes to standard output; everything else goes to
standard error.
Exit status: 0 the link leads to the URL; 1 there is no such link, the change is refused, or the
table has errors; 2 wrong usage; 3 the table cannot be read or written, or Git failed.")]
pub(in crate::cli) struct Args {
    /// Allow the link, if it forwards paths, to change where published paths of other links lead;
    /// the commit that --commit, --push or --branch makes declares this
    #[arg(long, env = "WAYPOST_ALLOW_SHADOWING", value_parser = BoolishValueParser::new())]
    allow_shadowing: bool,

    /// Allow the link to lead to a URL that already has another link
    #[arg(long, env = "WAYPOST_ALLOW_SHARED_TARGET", value_parser = BoolishValueParser::new())]
    allow_shared_target: bool,

    #[command(flatten)]
    link: EditingArgs,

    /// The new target
    #[arg(value_name = "URL", value_parser = super::url, help_heading = None::<&'static str>)]
    url: Target<'static>,
}

pub(in crate::cli) fn run(args: Args) -> Result<(), Error> {
    let note = |entry: &EditedEntry| {
        let is_retired = entry.content.retired.is_some();
        is_retired.then(|| "it is retired: to have it work again, use waypost restore".to_owned())
    };
    args.link.run(Editing {
        may_shadow: MayShadow::of_flag(args.allow_shadowing),
        may_share_target: args.allow_shared_target,
        note: &note,
        ..Editing::new("Retarget", vec![EntryValue::Url(args.url)])
    })
}
