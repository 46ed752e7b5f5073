//! Shared code of `set`, `retarget`, `retire` and `restore`: the link to change, its table, and the
//! report about the change.

pub(super) mod restore;
pub(super) mod retarget;
pub(super) mod retire;
pub(super) mod set;

use std::io::{self, Write as _, stderr, stdout};

use super::arguments::{TableArgs, table};
use super::publishing::{self, PublishArgs};
use super::refusal;
use super::terminal::{Error, remedy, with_hint};
use crate::mapping::Target;
use crate::registry::{
    EditDecision, EditRefusal, EditRight, EditRun, EditedEntry, EntryEdit, EntryValue,
    ExpectedContent, MayShadow,
};

/// The link to change, and its table.
#[derive(Debug, clap::Args)]
pub(super) struct EditingArgs {
    /// The link to change: its code, an alias, or the whole short link
    #[arg(value_name = "CODE", allow_hyphen_values = true)]
    link: String,

    #[command(flatten)]
    table: TableArgs,

    /// The base URL of the site, if several sites of the table have the code
    #[arg(long, value_name = "URL", env = "WAYPOST_SITE")]
    site: Option<String>,

    #[command(flatten)]
    git: PublishArgs,
}

/// A change of one link.
pub(super) struct Editing<'v> {
    /// The first word of the subject of the commit.
    pub(super) verb: &'static str,
    pub(super) values: Vec<EntryValue>,
    pub(super) may_shadow: MayShadow,
    pub(super) may_lose_aliases: bool,
    pub(super) may_share_target: bool,
    /// Returns a further note for the user about the changed entry.
    pub(super) note: &'v dyn Fn(&EditedEntry) -> Option<String>,
}

impl Editing<'_> {
    /// Sets values of an entry, without effects on other links.
    pub(super) fn new(verb: &'static str, values: Vec<EntryValue>) -> Self {
        Self {
            verb,
            values,
            may_shadow: MayShadow::None,
            may_lose_aliases: false,
            may_share_target: false,
            note: &|_| None,
        }
    }
}

impl EditingArgs {
    /// Changes the link.
    pub(super) fn run(&self, editing: Editing<'_>) -> Result<(), Error> {
        table::require_files(&self.table.paths)?;
        let edit = EntryEdit {
            site: self.site.clone(),
            link: self.link.clone(),
            right: EditRight::Any,
            expected: ExpectedContent::Any,
            values: editing.values,
            may_shadow: editing.may_shadow,
            may_lose_aliases: editing.may_lose_aliases,
            may_share_target: editing.may_share_target,
        };
        let verb = editing.verb;
        let subject = |entries: &[&EditedEntry]| match entries {
            [only] => format!("{verb} {}", only.content.code),
            _ => format!("{verb} {} short links", entries.len()),
        };
        let run = EditRun {
            edits: &[edit],
            subject: &subject,
            is_dry_run: self.git.dry_run,
        };
        let (decision, notes) = self.git.publish(&self.table.paths, &run)?;
        match decision.outcomes.first() {
            Some(Ok(entry)) if self.git.dry_run => self.show_dry_run(entry, &decision)?,
            Some(Ok(entry)) => self.announce(entry, &decision, &notes)?,
            Some(Err(refusal)) => return report(refusal),
            None => {}
        }
        if let Some(Ok(entry)) = decision.outcomes.first()
            && let Some(note) = (editing.note)(entry)
        {
            writeln!(stderr(), "{note}")?;
        }
        Ok(())
    }

    /// Shows the change of a dry run.
    fn show_dry_run(&self, entry: &EditedEntry, decision: &EditDecision) -> io::Result<()> {
        let Some(proved) = &decision.proved else {
            return unchanged(entry);
        };
        table::report(&decision.warnings)?;
        let after = &proved.table.table;
        if !publishing::show(&mut stdout(), &decision.before, after)? {
            let place = &entry.place;
            writeln!(
                stderr(),
                "the entry at {place} would be written differently, and mean the same"
            )?;
        }
        Ok(())
    }

    /// Reports the change.
    fn announce(
        &self,
        entry: &EditedEntry,
        decision: &EditDecision,
        notes: &[String],
    ) -> io::Result<()> {
        match entry.is_changed {
            true => {
                table::report(&decision.warnings)?;
                writeln!(stderr(), "changed at {}", entry.place)?;
            }
            false => unchanged(entry)?,
        }
        let statement = match self.git.makes_commit() {
            true => Vec::new(),
            false => publishing::statement(&entry.trailers),
        };
        for note in notes.iter().chain(&statement) {
            writeln!(stderr(), "{note}")?;
        }
        writeln!(stdout(), "{}", entry.short_url)
    }
}

fn unchanged(entry: &EditedEntry) -> io::Result<()> {
    let place = &entry.place;
    writeln!(
        stderr(),
        "nothing to change: the entry at {place} is already as requested"
    )
}

/// Reports why a link is not changed, and a hint.
fn report(refusal: &EditRefusal) -> Result<(), Error> {
    if let EditRefusal::CannotEdit(problem) = refusal {
        table::report(std::slice::from_ref(problem))?;
    }
    let problems = match refusal {
        EditRefusal::Unsound { problems } => &problems[..],
        _ => &[],
    };
    let hint = remedy::of_editing(refusal);
    if let EditRefusal::AlreadyRegistered(holder) = refusal {
        return refusal::report_holder(refusal, holder, hint.as_deref());
    }
    refusal::report_reason(refusal, problems, hint.as_deref())
}

/// Parses a text argument, which must not be blank.
pub(super) fn text(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        true => Err("it is blank; remove a key with --unset".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// Reads a URL as an argument.
pub(super) fn url(text: &str) -> Result<Target<'static>, String> {
    let target = Target::parse(text).map(Target::into_owned);
    target.map_err(|error| with_hint(&error, error.hint()))
}
