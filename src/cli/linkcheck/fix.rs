//! Fixing a table from the results of a link check: in its files, in a commit, or by a push.

use std::io::{self, Write as _, stderr, stdout};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::BoolishValueParser;

use super::link_fixes::{LinkFix, LinkFixes, Unfixed};
use crate::cli::arguments::{MAX_BYTES, quantity, table};
use crate::cli::publishing::{self, Publication};
use crate::cli::terminal::{Error, legible};
use crate::linkcheck::{Archive, WAYBACK_MACHINE};
use crate::registry::{
    CommitIdentity, EditDecision, EditRefusal, EditRun, EditedEntry, NewBranch, UserCheckout,
};

/// Fixing links.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Fixing links")]
pub(super) struct FixArgs {
    /// Update the URLs of links that have moved permanently, once two checks days apart agree, and
    /// add archived copies of dead links
    ///
    /// An entry whose URL changes keeps its code. No link is retired, and each link that is not
    /// fixed is reported with the reason.
    #[arg(long, env = "WAYPOST_LINKCHECK_FIX", value_parser = BoolishValueParser::new(), conflicts_with = "base")]
    pub(super) fix: bool,

    /// Look up copies of dead links in an archive; without --fix they are only reported
    ///
    /// URL is an availability API like that of the Wayback Machine, which is the default here and
    /// for --fix.
    #[arg(
        long,
        value_name = "URL",
        env = "WAYPOST_LINKCHECK_ARCHIVE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = WAYBACK_MACHINE,
        conflicts_with = "base"
    )]
    archive: Option<Archive>,

    /// Show what --fix would change, and write nothing
    #[arg(long, env = "WAYPOST_LINKCHECK_DRY_RUN", value_parser = BoolishValueParser::new(), requires = "fix")]
    dry_run: bool,

    /// Commit the fixed files, and nothing else, to the current branch
    #[arg(long, env = "WAYPOST_LINKCHECK_COMMIT", value_parser = BoolishValueParser::new(), requires = "fix")]
    commit: bool,

    /// Commit on top of the branch's latest commit on the remote, push, and fast-forward the checkout
    #[arg(long, env = "WAYPOST_LINKCHECK_PUSH", value_parser = BoolishValueParser::new(), requires = "fix")]
    push: bool,

    /// Push a new branch for review, and print where to open a pull request
    #[arg(long, env = "WAYPOST_LINKCHECK_BRANCH", value_name = "NAME", requires = "fix", conflicts_with_all = ["commit", "push"])]
    branch: Option<NewBranch>,

    /// The author of commits, as in 'A. Name <name@example.org>' [default: from Git's configuration]
    #[arg(long, value_name = "WHO", env = "WAYPOST_GIT_AUTHOR")]
    git_author: Option<CommitIdentity>,

    /// The time limit of one fetch or push
    #[arg(long, value_name = "INTERVAL", env = "WAYPOST_GIT_TIMEOUT", default_value = "60s", value_parser = quantity::positive_interval)]
    git_timeout: Duration,
}

impl FixArgs {
    /// Refuses a table that cannot be fixed there, before its links are checked for hours.
    pub(super) fn check_table(&self, paths: &[PathBuf]) -> Result<(), Error> {
        if self.fix {
            table::require_files(paths)?;
        }
        match self.is_committed() {
            true => self.checkout(paths).map(drop),
            false => Ok(()),
        }
    }

    /// Returns the checkout around the only path of a table.
    fn checkout<'p>(&self, paths: &'p [PathBuf]) -> Result<(UserCheckout, &'p Path), Error> {
        let [path] = paths else {
            return Err(Error::usage(
                "--commit, --push and --branch need exactly one PATH",
            ));
        };
        let checkout = UserCheckout::around(path, self.git_author.clone(), self.git_timeout)?;
        Ok((checkout, path))
    }

    /// Returns the archive to query about dead links, if any.
    pub(super) fn archive(&self) -> Option<Archive> {
        let usual = || WAYBACK_MACHINE.parse().ok().filter(|_| self.fix);
        self.archive.clone().or_else(usual)
    }

    /// Makes the proposed fixes, and reports unfixed links; a dry run shows the change on standard
    /// output if that is for people.
    pub(super) fn run(
        &self,
        paths: &[PathBuf],
        fixes: LinkFixes,
        is_for_people: bool,
    ) -> Result<(), Error> {
        let LinkFixes { all, mut unfixed } = fixes;
        let mut notes = Vec::new();
        if all.is_empty() {
            notes.push("nothing to fix".to_owned());
        }
        if !all.is_empty() {
            let edits: Vec<_> = all.iter().map(|it| it.edit.clone()).collect();
            let run = EditRun {
                edits: &edits,
                subject: &subject,
                is_dry_run: self.dry_run,
            };
            let (decision, more) = self.publication(paths)?.publish(&run, MAX_BYTES)?;
            notes = more;
            table::report(&decision.warnings)?;
            self.report_fixed(&all, &decision, &mut unfixed)?;
            if let Some(proved) = decision.proved.as_ref().filter(|_| self.dry_run) {
                let (before, after) = (&decision.before, &proved.table.table);
                match is_for_people {
                    true => publishing::show(&mut stdout(), before, after)?,
                    false => publishing::show(&mut stderr(), before, after)?,
                };
            }
            if !self.dry_run && !self.is_committed() {
                let entries = decision.changed_entries();
                notes.extend(publishing::statement(entries.flat_map(|it| &it.trailers)));
            }
        }
        unfixed.sort_by(|a, b| (&a.place, &a.reason).cmp(&(&b.place, &b.reason)));
        for Unfixed { place, reason } in &unfixed {
            let line = format!("{place}: not fixed: {reason}");
            writeln!(stderr(), "{}", legible(&line))?;
        }
        for note in notes {
            writeln!(stderr(), "{note}")?;
        }
        Ok(())
    }

    fn is_committed(&self) -> bool {
        self.commit || self.push || self.branch.is_some()
    }

    /// Returns where edits belong.
    fn publication<'a>(&'a self, paths: &'a [PathBuf]) -> Result<Publication<'a>, Error> {
        if self.push || self.branch.is_some() {
            let (checkout, path) = self.checkout(paths)?;
            return Ok(Publication::Checkout {
                checkout,
                path,
                review: self.branch.as_ref(),
            });
        }
        let checkout = match self.commit {
            true => Some(self.checkout(paths)?.0),
            false => None,
        };
        Ok(Publication::Files { paths, checkout })
    }

    /// Reports the fixes, and adds the refused ones to the unfixed links.
    fn report_fixed(
        &self,
        fixes: &[LinkFix],
        decision: &EditDecision,
        unfixed: &mut Vec<Unfixed>,
    ) -> io::Result<()> {
        let verb = if self.dry_run { "would fix" } else { "fixed" };
        for (fix, outcome) in fixes.iter().zip(&decision.outcomes) {
            let place = &fix.place;
            match outcome {
                Ok(_) => {
                    let line = format!("{place}: {verb} {}", fix.change);
                    writeln!(stderr(), "{}", legible(&line))?;
                }
                Err(refusal) => unfixed.push(Unfixed {
                    place: place.clone(),
                    reason: format!("{}: {}", fix.change, why(refusal)),
                }),
            }
        }
        Ok(())
    }
}

/// Returns the subject of the commit.
fn subject(entries: &[&EditedEntry]) -> String {
    match entries {
        [only] => format!("Fix {}", only.content.code),
        _ => format!("Fix {} short links", entries.len()),
    }
}

/// Returns why an edit is refused, with the first problem that it would cause.
fn why(refusal: &EditRefusal) -> String {
    match refusal {
        EditRefusal::CannotEdit(problem) => format!("{refusal}: {}", problem.message),
        EditRefusal::Unsound { problems } => match problems.first() {
            Some(first) => format!("{refusal}: {}", first.message),
            None => refusal.to_string(),
        },
        _ => refusal.to_string(),
    }
}
