//! Obstacles: why an entry cannot be inserted into a document, or changed there.

use std::sync::Arc;

use crate::mapping::{Diagnostic, Place, Position, Rule};

/// Why an entry cannot be inserted or changed safely.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Obstacle {
    rule: Rule,
    /// The position in the document.
    position: Position,
    message: &'static str,
    hint: &'static str,
}

impl Obstacle {
    pub(super) fn new(rule: Rule, position: Position, message: &'static str) -> Self {
        Self {
            rule,
            position,
            message,
            hint: "insert the entry by hand, or write the list in block form, \"- url: …\"",
        }
    }

    /// Returns an obstacle to changing an entry.
    pub(super) fn of_entry(rule: Rule, position: Position, message: &'static str) -> Self {
        Self {
            hint: "change the entry by hand, or write each of its keys on its own line",
            ..Self::new(rule, position, message)
        }
    }

    /// Returns this as a problem of the file at that path.
    pub fn in_file(self, path: &Arc<str>) -> Diagnostic {
        let place = Place {
            file: Arc::clone(path),
            position: self.position,
        };
        Diagnostic::new(self.rule, place, self.message).with_hint(self.hint)
    }
}
