//! `waypost restore`: takes a retirement back.

use super::editing::{Editing, EditingArgs};
use super::terminal::Error;
use crate::registry::EntryValue;

/// Make a retired link work again
///
/// Removes its retirement, also one whose date is still to come. An entry that has expired is refused,
/// because its link would still not work, and so is one whose URL was dropped: a code that was taken
/// down is never given a target again.
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
pub(super) struct Args {
    #[command(flatten)]
    link: EditingArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    (args.link).run(Editing::new("Restore", vec![EntryValue::Live]))
}
