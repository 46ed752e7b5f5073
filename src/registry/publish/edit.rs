//! Edits: the content of a commit.

use super::publish_error::PublishError;
use crate::git::in_parallel;
use crate::mapping::SourceFile;
use crate::registry::text::TextFile;

/// Changed files of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// Each by its path in the repository, where it need not exist, with its full text.
    pub files: Vec<TextFile>,
    /// The message of the commit.
    pub message: String,
}

impl Edit {
    /// Returns the files as a whole, which have the content that was proved.
    ///
    /// # Errors
    ///
    /// If a text is not there any more.
    pub(super) fn whole(&self) -> Result<Vec<SourceFile>, PublishError> {
        let whole = |file: &TextFile| {
            let path = || file.path.to_string();
            let lost = || PublishError::TextLost { path: path() };
            file.checked().ok_or_else(lost)
        };
        in_parallel(&self.files, whole).into_iter().collect()
    }
}
