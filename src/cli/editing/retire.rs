//! `waypost retire`: ends a link, whose code stays taken.

use std::time::SystemTime;

use super::{Editing, EditingArgs};
use crate::cli::terminal::Error;
use crate::mapping::{Target, Timestamp, WrittenDate, WrittenRetirement};
use crate::registry::EntryValue;

/// Retire a link: it answers 410 Gone, and its code stays taken
///
/// Writes today's date (UTC). The page that visitors see then links to the archived copy, if there
/// is one. `waypost restore` undoes this.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost retire gnu-home                              from today on
  waypost retire gnu-home --on 2031-12-31              from that day on
  waypost retire gnu-home --archive https://web.archive.org/web/2026/https://www.gnu.org/
  waypost retire gnu-home --drop-url --push            a takedown: the table no longer names the URL

Only the short link, or what a dry run shows, goes to standard output; everything else goes to
standard error.
Exit status: 0 the link is retired; 1 there is no such link, the change is refused, or the table has
errors; 2 wrong usage; 3 the table cannot be read or written, or Git failed.")]
pub(in crate::cli) struct Args {
    /// The first day on which the link answers 410, or the time (RFC 3339), instead of today
    #[arg(long, value_name = "DATE")]
    on: Option<WrittenDate>,

    /// Drop the URL, its archived copy, the title, and comments on their lines, so that the table no
    /// longer names the target; a code that was derived from the URL is written out
    #[arg(long, conflicts_with = "archive")]
    drop_url: bool,

    /// An archived copy of the target, shown instead
    #[arg(long, value_name = "URL", value_parser = super::url)]
    archive: Option<Target<'static>>,

    #[command(flatten)]
    link: EditingArgs,
}

pub(in crate::cli) fn run(args: Args) -> Result<(), Error> {
    let mut values = vec![match args.on {
        Some(date) => EntryValue::Retired(Some(WrittenRetirement::From(date))),
        None => EntryValue::RetiredBy(today()),
    }];
    if args.drop_url {
        values.push(EntryValue::TakenDown);
    }
    if args.archive.is_some() {
        values.push(EntryValue::Archive(args.archive));
    }
    args.link.run(Editing::new("Retire", values))
}

/// Returns the date of today, in UTC.
fn today() -> WrittenDate {
    WrittenDate::day_of(Timestamp::from(SystemTime::now()))
}
