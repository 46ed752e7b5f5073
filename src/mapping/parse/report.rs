//! The report for the problems of one file.

use std::sync::Arc;

use crate::mapping::value::{Diagnostic, Place, Position, Problems};

/// Reports problems of one file.
pub(crate) struct Report<'p> {
    pub(crate) file: &'p Arc<str>,
    pub(crate) problems: &'p mut Problems,
}

impl Report<'_> {
    /// Reports an error; returns its number unless it is over the limit.
    pub(crate) fn error(
        &mut self,
        position: Position,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Option<usize> {
        let mut diagnostic = Diagnostic::error(Place::new(self.file, position), message);
        diagnostic.hint = hint;
        self.problems.push(diagnostic)
    }

    /// Reports a warning and what to do about it.
    pub(crate) fn warn(
        &mut self,
        position: Position,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let place = Place::new(self.file, position);
        self.problems
            .push(Diagnostic::warning(place, message).with_hint(hint));
    }
}
