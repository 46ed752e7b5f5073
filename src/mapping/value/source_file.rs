//! A file of a table, as text comes in.

use std::sync::Arc;

/// One file of a table: its path as it was given, and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path that diagnostics show.
    pub path: Arc<str>,
    /// The content, not yet known to be UTF-8.
    pub bytes: Vec<u8>,
}
