//! Edits: the content of a commit.

use crate::mapping::SourceFile;

/// Changed files of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Each by its path in the repository, where it need not exist, with its full text.
    pub files: Vec<SourceFile>,
    /// The message of the commit.
    pub message: String,
}
