//! The report for the problems of one file.

use std::sync::Arc;

use crate::mapping::value::{Diagnostic, Place, Position, Problems, Rule};

/// Reports problems of one file.
pub(crate) struct Report<'p> {
    pub(crate) file: &'p Arc<str>,
    pub(crate) problems: &'p mut Problems,
}

impl Report<'_> {
    /// Reports a problem, with a remedy if there is one.
    pub(crate) fn problem(
        &mut self,
        rule: Rule,
        position: Position,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        let mut diagnostic = Diagnostic::new(rule, Place::new(self.file, position), message);
        diagnostic.hint = hint;
        self.problems.push(diagnostic);
    }

    /// Reports a problem and its remedy.
    pub(crate) fn problem_with_hint(
        &mut self,
        rule: Rule,
        position: Position,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.problem(rule, position, message, Some(hint.into()));
    }
}
