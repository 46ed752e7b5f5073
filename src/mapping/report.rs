//! Where the problems of one file go.

use std::sync::Arc;

use super::diagnostic::Problems;
use super::{Diagnostic, Place, Position};

/// Tells problems of one file.
pub(super) struct Report<'p> {
    pub(super) file: &'p Arc<str>,
    pub(super) problems: &'p mut Problems,
}

impl Report<'_> {
    /// Tells an error; returns its number if it is told.
    pub(super) fn error(
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
    pub(super) fn warn(
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
