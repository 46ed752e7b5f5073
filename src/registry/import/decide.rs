//! The decision on an import: which links a table gains, as a function of its files.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::intake::Intake;
use crate::mapping::{Diagnostic, SourceFile, Table, Timestamp, compile};
use crate::registry::decide::{
    Base, Bisection, Effort, MayShadow, ProvedTable, RegistrationRefusal,
};
use crate::registry::text::{TableText, TextFile};

/// The maximum number of invalid entries that are searched for: each step of the bisection compiles
/// the table.
const MOST_AT_FAULT: usize = 20;

/// Links to import.
pub struct ImportRun<'r, E> {
    /// Takes each link. It is called again for each newer state of the table.
    pub fill: &'r dyn Fn(&mut Intake<'_>) -> Result<(), E>,
    /// Whether links may name their sites: if the table has several and none is named here, each link
    /// goes to its own.
    pub names_sites: bool,
    /// The base URL of the site, if the table has several.
    pub site: Option<&'r str>,
    /// The document, by its path or file name, if the site has several.
    pub file: Option<&'r str>,
    /// The entries of the table, as it was before, that may be shadowed.
    pub may_shadow: &'r MayShadow,
    /// The name of the format, for the message of a commit.
    pub format: &'r str,
    /// Whether this is a dry run, which writes and publishes nothing.
    pub is_dry_run: bool,
    /// The current time.
    pub now: Timestamp,
}

/// The result of an import.
#[derive(Debug)]
pub struct ImportDecision {
    /// The table before.
    pub before: Arc<Table>,
    /// The files that gain links, or the only one that could, with their numbers.
    pub added: Vec<(String, usize)>,
    /// The number of links that were in the table already, or are duplicates.
    pub known: usize,
    /// The links that were refused at the end, with their lines.
    pub refused: Vec<(usize, RegistrationRefusal)>,
    /// The files to write, with their new text; none if nothing changes.
    pub changed: Vec<TextFile>,
    /// The table with those files; `None` if nothing changes.
    pub proved: Option<ProvedTable>,
    /// The warnings that the new entries cause.
    pub warnings: Vec<Diagnostic>,
    /// The trailers of a commit that state that the shadowing by new codes is intended.
    pub trailers: BTreeSet<String>,
    /// The message of a commit.
    pub(super) message: String,
}

impl<E: From<RegistrationRefusal>> ImportRun<'_, E> {
    /// Decides which of the links the table with this text gains.
    ///
    /// # Errors
    ///
    /// If the table has errors, or would have some for other reasons than a few of the links, or if
    /// [`ImportRun::fill`] fails.
    pub(super) fn decide(&self, text: &TableText, max_bytes: u64) -> Result<ImportDecision, E> {
        let files = text.files();
        let compiled = text.compiled().map_err(RegistrationRefusal::from)?;
        let base = Base::new(files, &compiled, self.now);
        let table = base.table();
        let (site, file) = (self.site, self.file);
        let mut intake = Intake::new(table, files, site, file, self.names_sites, self.now)?;
        let paths = intake.paths();
        (self.fill)(&mut intake)?;
        let taken = intake.finish()?;
        let additions = taken.additions;
        let bisection = Bisection {
            base: &base,
            additions: &additions,
            may_shadow: &|_| self.may_shadow,
            max_bytes,
            now: self.now,
        };
        let effort = Effort::Complete {
            faults: MOST_AT_FAULT,
        };
        let bisected = bisection.run(&effort)?;
        let mut refused = taken.refused;
        let late = bisected.refused.into_iter();
        refused.extend(late.map(|(number, refusal)| (taken.lines[number], refusal)));
        let mut decision = ImportDecision {
            before: Arc::clone(&compiled.table),
            added: Vec::new(),
            known: taken.known,
            refused,
            changed: Vec::new(),
            proved: None,
            warnings: Vec::new(),
            trailers: BTreeSet::new(),
            message: String::new(),
        };
        let mut counts = HashMap::new();
        for number in bisected.accepted.iter().flat_map(|it| &it.numbers) {
            *counts.entry(&*additions[*number].path).or_insert(0) += 1;
        }
        let added = paths.iter().map(|path| {
            let count = counts.get(&**path).copied();
            (path.to_string(), count.unwrap_or(0))
        });
        let is_only = paths.len() == 1;
        decision.added = added.filter(|(_, count)| *count > 0 || is_only).collect();
        if let Some(accepted) = bisected.accepted {
            // Those that are not allowed were refused.
            let shadowings = accepted.proof.shadowings.iter();
            decision.trailers = shadowings.map(|it| it.trailer.clone()).collect();
            decision.message = self.message(accepted.numbers.len(), &decision.trailers);
            decision.changed = accepted.written;
            decision.warnings = accepted.proof.warnings;
            decision.proved = Some(accepted.proof.proved);
        }
        Ok(decision)
    }

    /// Decides which of the links a new table gains, which has one file without entries so far. It is
    /// written even if there are none.
    pub(super) fn decide_new(
        &self,
        file: &SourceFile,
        max_bytes: u64,
    ) -> Result<ImportDecision, E> {
        let files = [TextFile::from(file.clone())];
        let mut decision = self.decide(&files.to_vec().into(), max_bytes)?;
        if decision.proved.is_none() {
            let table = compile(std::slice::from_ref(file)).into_sound();
            let table = table.map_err(RegistrationRefusal::TableHasErrors)?;
            decision.message = self.message(0, &BTreeSet::new());
            decision.changed = files.to_vec();
            decision.proved = Some(ProvedTable {
                files: files.to_vec(),
                table,
            });
        }
        Ok(decision)
    }

    /// Returns the message of a commit: how many links come from which format, and the statements as
    /// trailers (git-interpret-trailers(1)).
    fn message(&self, count: usize, trailers: &BTreeSet<String>) -> String {
        let noun = if count == 1 { "link" } else { "links" };
        let mut message = format!("Import {count} short {noun} from {}\n", self.format);
        for (number, trailer) in trailers.iter().enumerate() {
            if number == 0 {
                message.push('\n');
            }
            message += trailer;
            message.push('\n');
        }
        message
    }
}
