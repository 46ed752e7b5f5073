//! The part of a check that looks back at published links, which must still work.
//!
//! A base is one earlier table; the history has all of them.

use std::cell::RefCell;
use std::collections::HashSet;

use clap::ArgGroup;
use clap::builder::BoolishValueParser;

use crate::cli::terminal::{complain, progress};
use crate::history::{HistoryError, HistoryNote, Lineage, SinceBase};
use crate::mapping::{Diagnostic, Statement, Statements, Table, Timestamp};

#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(group = ArgGroup::new("past").args(["base", "history"]).multiple(true))]
pub(super) struct Args {
    /// Also report published links that would break: compare with the commit at which HEAD, or the
    /// REV of --rev, branched off from this branch, tag or commit
    #[arg(long, value_name = "REV", env = "WAYPOST_BASE")]
    base: Option<String>,

    /// Also report links that would break out of all that were ever published in the history of
    /// HEAD, or of the REV of --rev
    #[arg(long, env = "WAYPOST_HISTORY", value_parser = BoolishValueParser::new())]
    history: bool,

    /// A code or short link whose target changes on purpose; may be repeated
    ///
    /// A commit can declare the same with a trailer at the end of its message: `Waypost-Allow:
    /// retarget CODE`.
    #[arg(
        long,
        value_name = "CODE",
        env = "WAYPOST_ALLOW_RETARGET",
        value_delimiter = ',',
        allow_hyphen_values = true,
        requires = "past"
    )]
    allow_retarget: Vec<String>,
}

impl Args {
    /// Returns the base to look back at, if there is one.
    pub(super) fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// Returns whether a look back was requested.
    pub(super) fn look_back(&self) -> bool {
        self.base.is_some() || self.history
    }

    /// Returns an error for each promise that a table breaks, and a warning for each link that ends
    /// near `now` because of the change since the base; and the table there, if there was one.
    pub(super) fn findings(
        &self,
        table: &Table,
        lineage: &Lineage,
        now: Timestamp,
    ) -> Result<(Vec<Diagnostic>, Option<Table>), HistoryError> {
        let stated = self.allow_retarget.iter();
        let stated: Statements = stated.map(|link| Statement::retarget(link)).collect();
        // Written after the progress display has ended.
        let notes = RefCell::new(Vec::new());
        let note = |note: &HistoryNote| notes.borrow_mut().push(note.to_string());
        let SinceBase {
            mut broken,
            near_ends,
            before,
        } = match &self.base {
            Some(base) => {
                let since = progress::during(format!("comparing with {base}"), || {
                    lineage.since_base(base, table, &stated, now, &note)
                });
                notes.take().iter().for_each(|note| complain(note));
                since?
            }
            None => SinceBase::default(),
        };
        if self.history {
            let reported: HashSet<_> = broken.iter().map(|it| it.link.clone()).collect();
            let ever = progress::during("reading the history", || {
                lineage.broken_ever(table, &stated)
            })?;
            broken.extend(ever.into_iter().filter(|it| !reported.contains(&it.link)));
        }
        let broken = broken.into_iter().map(|it| it.diagnostic);
        Ok((broken.chain(near_ends).collect(), before))
    }
}
