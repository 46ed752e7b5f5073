//! Compiles.

use super::{Diagnostic, SourceFile, Table};

/// What came of compiling a table.
pub struct Compilation {
    /// The table, unless there was an error.
    pub table: Option<Table>,
    /// Every problem found, errors and warnings, in the order of files and lines.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles the files of one table.
pub fn compile(_files: &[SourceFile]) -> Compilation {
    todo!()
}
