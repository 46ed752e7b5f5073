//! `waypost restore`: reverts a retirement.

use super::{Editing, EditingArgs};
use crate::cli::terminal::Error;
use crate::registry::EntryValue;

/// Make a retired link work again
///
/// Removes the retirement, even if its date is in the future. An entry that has expired is refused,
/// because its link would still not work. So is an entry whose URL was dropped: a code that was
/// taken down never gets a target again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost restore gnu-home
  waypost restore gnu-home --commit                    in the checkout
  waypost set gnu-home --unset expires                 if it has expired

Only the short link, or what a dry run shows, goes to standard output; everything else goes to
standard error.
Exit status: 0 the link works; 1 there is no such link, it cannot be restored, or the table has
errors; 2 wrong usage; 3 the table cannot be read or written, or Git failed.")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    link: EditingArgs,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Error> {
    (args.link).run(Editing::new("Restore", vec![EntryValue::Live]))
}
