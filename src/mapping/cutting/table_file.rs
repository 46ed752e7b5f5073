//! Files of a table as they are read to be compiled: where they were cut, and the text that is not known
//! from an earlier version.

use std::sync::Arc;

use super::cut::Cut;
use crate::mapping::value::SourceFile;

/// A file of a table, as it was read.
#[derive(Debug)]
pub struct TableFile {
    /// The path that diagnostics show.
    pub path: Arc<str>,
    /// Where it was cut.
    pub cut: Arc<Cut>,
    /// The text that was read.
    pub text: FileText,
}

/// The text of a file that was read.
#[derive(Debug)]
pub enum FileText {
    /// All of it.
    Whole(SourceFile),
    /// The text of the unknown pieces of its list.
    Pieces(Vec<Option<Box<str>>>),
    /// None: either all of it is known, or so much is new that the file must be read as a whole.
    Nothing,
}

impl TableFile {
    /// Returns a file that was read completely.
    pub fn whole(file: SourceFile) -> Self {
        Self {
            path: Arc::clone(&file.path),
            cut: Arc::new(Cut::of(&file.bytes)),
            text: FileText::Whole(file),
        }
    }

    /// Returns a known file, with its earlier cut.
    pub fn known(path: Arc<str>, cut: Arc<Cut>) -> Self {
        let text = FileText::Nothing;
        Self { path, cut, text }
    }

    /// Returns the whole file, if all of it was read.
    pub fn as_whole(&self) -> Option<&SourceFile> {
        match &self.text {
            FileText::Whole(file) => Some(file),
            FileText::Pieces(_) | FileText::Nothing => None,
        }
    }

    /// Returns the whole file, if all of it was read.
    pub fn into_whole(self) -> Option<SourceFile> {
        match self.text {
            FileText::Whole(file) => Some(file),
            FileText::Pieces(_) | FileText::Nothing => None,
        }
    }
}
