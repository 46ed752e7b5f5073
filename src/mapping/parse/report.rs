//! Where the problems of one file go.

use std::sync::Arc;

use crate::mapping::value::{Diagnostic, Place, Position, Problems};

/// Tells problems of one file.
pub(crate) struct Report<'p> {
    pub(crate) file: &'p Arc<str>,
    pub(crate) problems: &'p mut Problems,
}

impl Report<'_> {
    /// Tells an error; returns its number if it is told.
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

    /// Tells a warning and what to do about it.
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
