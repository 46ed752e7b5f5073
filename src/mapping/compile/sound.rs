//! Tables without errors, with their warnings and tests.
//!
//! Passed on by code that has compiled a table, so that the same text is not compiled again.

use std::sync::Arc;

use super::expectation::Expectation;
use super::tables::Compilation;
use crate::mapping::packed::Table;
use crate::mapping::value::{Diagnostic, Timestamp};

/// A table without errors; copies share it.
#[derive(Debug, Clone)]
pub struct SoundTable {
    /// The table.
    pub table: Arc<Table>,
    /// The warnings of its compilation, in the order of files and lines.
    pub warnings: Arc<[Diagnostic]>,
    /// The tests written in it.
    expectations: Arc<[Expectation]>,
}

impl Compilation {
    /// Returns the table with its warnings.
    ///
    /// # Errors
    ///
    /// Returns the diagnostics of a table with errors.
    pub fn into_sound(self) -> Result<SoundTable, Vec<Diagnostic>> {
        match self.table {
            Some(table) => Ok(SoundTable {
                table: Arc::new(table),
                warnings: self.diagnostics.into(),
                expectations: self.expectations.into(),
            }),
            None => Err(self.diagnostics),
        }
    }
}

impl SoundTable {
    /// Runs the tests written in the table, and returns an error for each that fails.
    pub fn failed_tests(&self, now: Timestamp) -> impl Iterator<Item = Diagnostic> {
        let tests = self.expectations.iter();
        tests.filter_map(move |test| test.check(&self.table, now))
    }
}
