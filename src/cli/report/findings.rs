//! The findings of a check, as input for all formats.
//!
//! There is a table if the compiler found no error; only then were its tests run.

use std::collections::HashMap;
use std::sync::Arc;

use super::levels::Levels;
use crate::mapping::{Compilation, Diagnostic, Place, Rule, SourceFile};

/// A table's text, and the results of compiling it and running its tests.
pub(crate) struct Findings {
    pub(crate) files: Vec<SourceFile>,
    pub(crate) compilation: Compilation,
    levels: Levels,
}

impl Findings {
    /// Returns the findings for a table, without those that are allowed.
    pub(crate) fn new(
        files: Vec<SourceFile>,
        mut compilation: Compilation,
        levels: Levels,
    ) -> Self {
        compilation.diagnostics.retain(|it| !levels.allow(it));
        Self {
            files,
            compilation,
            levels,
        }
    }

    /// Returns the findings for files that are not read, from the reasons.
    pub(crate) fn refused(reasons: Vec<Diagnostic>, levels: Levels) -> Self {
        let unread = reasons.iter().map(|reason| SourceFile {
            path: Arc::clone(&reason.place.file),
            bytes: Vec::new(),
        });
        Self::new(unread.collect(), Compilation::refused(reasons), levels)
    }

    /// Returns every problem, in the order of files and lines.
    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        &self.compilation.diagnostics
    }

    pub(crate) fn errors(&self) -> usize {
        self.diagnostics().iter().filter(|it| it.is_error()).count()
    }

    pub(crate) fn warnings(&self) -> usize {
        self.diagnostics().len() - self.errors()
    }

    /// Returns how many warnings make the check fail.
    pub(crate) fn denied(&self) -> usize {
        let warnings = self.diagnostics().iter().filter(|it| !it.is_error());
        warnings.filter(|it| self.is_refusal(it)).count()
    }

    /// Returns how many problems are not listed, because there are too many of their kind in a file.
    pub(crate) fn unlisted(&self) -> usize {
        self.diagnostics().iter().map(|it| it.unlisted).sum()
    }

    /// Returns how many entries the table has, if there is one.
    pub(crate) fn entries(&self) -> Option<usize> {
        self.compilation.table.as_ref().map(|table| table.len())
    }

    pub(crate) fn tests_run(&self) -> usize {
        match self.compilation.table {
            Some(_) => self.compilation.expectations.len(),
            None => 0,
        }
    }

    /// Returns the diagnostics of failed tests, by the place of each.
    pub(crate) fn failed_tests(&self) -> HashMap<&Place, &Diagnostic> {
        if self.compilation.table.is_none() {
            return HashMap::new();
        }
        let failures = self.diagnostics().iter();
        let failures = failures.filter(|it| it.rule == Rule::TestFailed);
        let reported: HashMap<_, _> = failures.map(|error| (&error.place, error)).collect();
        (self.compilation.expectations.iter())
            .filter_map(|test| reported.get_key_value(test.place()))
            .map(|(place, error)| (*place, *error))
            .collect()
    }

    /// Returns whether a diagnostic makes the check fail.
    pub(crate) fn is_refusal(&self, diagnostic: &Diagnostic) -> bool {
        self.levels.refuse(diagnostic)
    }

    /// Returns whether the check fails.
    pub(crate) fn is_refused(&self) -> bool {
        self.diagnostics().iter().any(|it| self.is_refusal(it))
    }
}

/// Returns a path in the form for machine-readable formats: without a leading `./`.
pub(crate) fn plain_path(path: &str) -> &str {
    match path.strip_prefix("./") {
        Some(rest) => plain_path(rest.trim_start_matches('/')),
        None => path,
    }
}

/// Returns a diagnostic's message and hint in one line.
pub(crate) fn with_hint(diagnostic: &Diagnostic) -> String {
    match &diagnostic.hint {
        Some(hint) => format!("{} (hint: {hint})", diagnostic.message),
        None => diagnostic.message.clone(),
    }
}
