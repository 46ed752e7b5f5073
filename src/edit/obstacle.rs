//! Obstacles: why an entry cannot be inserted into a document.

use std::sync::Arc;

use crate::mapping::{Diagnostic, Place, Position};

/// Why an entry cannot be inserted without risk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Obstacle {
    /// The position in the document.
    position: Position,
    message: &'static str,
}

impl Obstacle {
    pub(super) fn new(position: Position, message: &'static str) -> Self {
        Self { position, message }
    }

    /// Returns this as a problem of the file at that path.
    pub fn in_file(self, path: &Arc<str>) -> Diagnostic {
        let place = Place {
            file: Arc::clone(path),
            position: self.position,
        };
        let hint = "insert the entry by hand, or write the list in block form, \"- url: …\"";
        Diagnostic::error(place, self.message).with_hint(hint)
    }
}
