//! Files of a table, as input.

use std::sync::Arc;

/// One file of a table: its path as given, and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path that diagnostics show.
    pub path: Arc<str>,
    /// The content, not yet known to be UTF-8.
    pub bytes: Vec<u8>,
}

impl SourceFile {
    /// Returns a file with this path and content.
    pub fn new(path: Arc<str>, bytes: Vec<u8>) -> Self {
        Self { path, bytes }
    }
}
