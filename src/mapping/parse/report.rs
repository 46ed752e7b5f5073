//! The report for the problems of one file.

use std::sync::Arc;

use crate::mapping::value::{Diagnostic, Place, Position, Problems, Rule};

/// Reports problems of one file.
pub(crate) struct Report<'p> {
    pub(crate) file: &'p Arc<str>,
    pub(crate) problems: &'p mut Problems,
}

impl Report<'_> {
    /// Reports a problem; returns its number unless it is over the limit.
    pub(crate) fn error(
        &mut self,
        rule: Rule,
        position: Position,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Option<usize> {
        let mut diagnostic = Diagnostic::new(rule, Place::new(self.file, position), message);
        diagnostic.hint = hint;
        self.problems.push(diagnostic)
    }

    /// Reports a problem that has no number, and what to do about it.
    pub(crate) fn warn(
        &mut self,
        rule: Rule,
        position: Position,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let place = Place::new(self.file, position);
        self.problems
            .push(Diagnostic::new(rule, place, message).with_hint(hint));
    }
}
