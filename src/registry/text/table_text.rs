//! The text of a table, with the table if it was compiled while the text was read.

use super::compiled::{compile_new_text, compile_text};
use super::text_file::TextFile;
use crate::mapping::{Compilation, Diagnostic, FirstReading, SoundTable, TableFile};
use crate::source::{FileSource, FilesError, StoredFile};

/// The files of a table.
#[derive(Debug)]
pub struct TableText {
    files: Vec<TextFile>,
    /// The table, or why there is none; `None` if it is not compiled yet, or its text was lost meanwhile.
    compiled: Option<Result<SoundTable, Vec<Diagnostic>>>,
}

/// Why text is not compiled.
#[derive(Debug)]
pub(crate) enum NotCompiled {
    /// It has errors.
    Errors(Vec<Diagnostic>),
    /// It is not there any more; the first file of the table is this.
    Lost(String),
}

impl From<Vec<TextFile>> for TableText {
    fn from(files: Vec<TextFile>) -> Self {
        Self {
            files,
            compiled: None,
        }
    }
}

impl TableText {
    /// Reads the files of a table, and compiles them meanwhile if possible. Returns the metadata of each
    /// file, too.
    pub(crate) fn read<T>(
        source: &FileSource,
        state: impl Fn(&StoredFile) -> T,
    ) -> Result<(Self, Vec<T>), FilesError> {
        let first = FirstReading::default();
        let stored = source.compile_stored(&first)?;
        let states = stored.iter().map(state).collect();
        let files: Vec<_> = stored.into_iter().map(TextFile::from).collect();
        let known: Vec<TableFile> = files.iter().map(TextFile::without_text).collect();
        let compiled = first.compile(&known).ok();
        let compiled = compiled.or_else(|| compile_new_text(&files, None));
        let compiled = compiled.map(Compilation::into_sound);
        Ok((Self { files, compiled }, states))
    }

    /// Returns the files.
    pub(crate) fn files(&self) -> &[TextFile] {
        &self.files
    }

    /// Returns the table, which is compiled now if it was not while it was read.
    pub(crate) fn compiled(&self) -> Result<SoundTable, NotCompiled> {
        let compiled = self.compiled.clone();
        let compiled =
            compiled.or_else(|| compile_text(&self.files, None).map(Compilation::into_sound));
        let first = || self.files.first().map_or("", |file| &file.path).to_owned();
        let compiled = compiled.ok_or_else(|| NotCompiled::Lost(first()))?;
        compiled.map_err(NotCompiled::Errors)
    }
}
