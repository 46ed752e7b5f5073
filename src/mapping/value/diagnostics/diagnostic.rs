//! Diagnostics: the common form in which all problems with a table are reported.
//!
//! A diagnostic names the place, the problem and, if there is one, the remedy. How it is shown
//! (terminal, annotations, JSON) is not decided here, except for the one-line form of compilers
//! that editors understand.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use super::rule::{Rule, Severity};

/// The maximum number of reported problems of one file and rule: enough to work with, and a bound on
/// memory.
pub(crate) const MAX_PROBLEMS: usize = 1000;

/// A place within one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Position {
    /// The first character of a file, used for problems with a file as a whole.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// A place in a table: a file and a position in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file's path as given.
    pub file: Arc<str>,
    /// The position in the file.
    pub position: Position,
}

impl Place {
    /// Returns the place of a position in a file.
    pub(crate) fn new(file: &Arc<str>, position: Position) -> Self {
        Self {
            file: Arc::clone(file),
            position,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.position;
        write!(f, "{}:{line}:{column}", self.file)
    }
}

/// One problem with a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its kind, which determines its severity.
    pub rule: Rule,
    /// Its place.
    pub place: Place,
    /// The problem: lower case, one line, no full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The number of problems that are not listed, and for which this one is: 0 if it is one itself.
    pub unlisted: usize,
}

impl Diagnostic {
    /// Returns a problem of the given kind at `place`.
    pub fn new(rule: Rule, place: Place, message: impl Into<String>) -> Self {
        Self {
            rule,
            place,
            message: message.into(),
            hint: None,
            unlisted: 0,
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns its severity: that of its rule.
    pub fn severity(&self) -> Severity {
        self.rule.severity()
    }

    /// Returns whether this keeps the table from being loaded.
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }
}

/// Writes `PATH:LINE:COLUMN: error: MESSAGE`, and the hint indented on a second line.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.severity(), self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// The problems of a table, up to a limit for each file and rule.
///
/// The rest is counted by rule, so that no kind of problem is lost among others.
#[derive(Debug)]
pub(crate) struct Problems {
    reported: Vec<Diagnostic>,
    files: HashMap<Arc<str>, RuleCounts>,
    most: usize,
}

impl Default for Problems {
    fn default() -> Self {
        Self::up_to(MAX_PROBLEMS)
    }
}

/// The state of [`Problems`] before a file was tried.
pub(crate) struct Checkpoint {
    reported: usize,
    file: Arc<str>,
    counts: Option<RuleCounts>,
}

/// The numbers of problems of one file.
type RuleCounts = BTreeMap<Rule, Count>;

/// The number of problems of one file and rule.
#[derive(Debug, Clone, Default)]
struct Count {
    reported: usize,
    unreported: usize,
    /// The last reported place.
    last: Option<Position>,
}

impl Problems {
    /// Returns no problems, with a limit for each file and rule.
    pub(crate) fn up_to(most: usize) -> Self {
        Self {
            reported: Vec::new(),
            files: HashMap::new(),
            most,
        }
    }

    /// Returns the limit for each file and rule.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Adds a problem; returns its number unless it is over the limit.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) -> Option<usize> {
        let file = Arc::clone(&diagnostic.place.file);
        let counts = self.files.entry(file).or_default();
        let count = counts.entry(diagnostic.rule).or_default();
        if count.reported >= self.most {
            count.unreported += 1;
            return None;
        }
        count.reported += 1;
        count.last = count.last.max(Some(diagnostic.place.position));
        self.reported.push(diagnostic);
        Some(self.reported.len() - 1)
    }

    /// Records the state before a file is read in a way that may prove wrong.
    pub(crate) fn checkpoint(&self, file: &Arc<str>) -> Checkpoint {
        Checkpoint {
            reported: self.reported.len(),
            file: Arc::clone(file),
            counts: self.files.get(file).cloned(),
        }
    }

    /// Discards the problems of the file reported since.
    pub(crate) fn return_to(&mut self, checkpoint: &Checkpoint) {
        self.reported.truncate(checkpoint.reported);
        let file = &checkpoint.file;
        match checkpoint.counts.clone() {
            Some(counts) => self.files.insert(Arc::clone(file), counts),
            None => self.files.remove(file),
        };
    }

    /// Replaces the problems reported since a checkpoint with fewer and clearer ones.
    pub(crate) fn revise(
        &mut self,
        checkpoint: &Checkpoint,
        revise: impl FnOnce(Vec<Diagnostic>) -> Vec<Diagnostic>,
    ) {
        let found = self.reported.split_off(checkpoint.reported);
        self.reported.extend(revise(found));
    }

    /// Returns the problems reported since a checkpoint, and whether they are all.
    pub(crate) fn since(&self, checkpoint: &Checkpoint) -> (&[Diagnostic], bool) {
        let counts = self.files.get(&checkpoint.file);
        let mut counts = counts.into_iter().flat_map(BTreeMap::values);
        let are_all = counts.all(|count| count.unreported == 0);
        (&self.reported[checkpoint.reported..], are_all)
    }

    /// Returns whether any of them is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.reported.iter().any(Diagnostic::is_error)
    }

    /// Sets the hint of the problem with the given number.
    pub(crate) fn set_hint(&mut self, number: usize, hint: String) {
        self.reported[number].hint = Some(hint);
    }

    /// Returns the reported problems, with a line for each file and rule that has more.
    pub(crate) fn into_reported(mut self) -> Vec<Diagnostic> {
        for (file, counts) in self.files {
            let more = counts.into_iter().filter(|(_, count)| count.unreported > 0);
            self.reported.extend(more.map(|(rule, count)| {
                let position = count.last.unwrap_or(Position::START);
                let count = count.unreported;
                let message = format!("{count} further problems of the rule {rule} in this file");
                let place = Place::new(&file, position);
                let mut rest = Diagnostic::new(rule, place, message);
                rest.unlisted = count;
                rest
            }));
        }
        self.reported
    }
}
