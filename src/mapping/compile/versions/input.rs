//! The files of a table, as they are compiled: where each was cut, with all of its text or with that of
//! its unknown pieces.

use std::sync::Arc;

use crate::mapping::cutting::{Cut, FileText, TableFile, text};
use crate::mapping::value::SourceFile;

/// The text of an unread piece is needed, and with it that of the whole files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextNeeded;

/// A file of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct InputFile<'t> {
    pub(super) path: &'t Arc<str>,
    pub(super) cut: &'t Cut,
    /// The file, if all of it was read.
    pub(super) whole: Option<&'t SourceFile>,
    /// The texts of its pieces that were read otherwise.
    texts: &'t [Option<Box<str>>],
}

impl<'t> InputFile<'t> {
    pub(super) fn whole(file: &'t SourceFile, cut: &'t Cut) -> Self {
        Self {
            path: &file.path,
            cut,
            whole: Some(file),
            texts: &[],
        }
    }

    pub(super) fn read(file: &'t TableFile) -> Self {
        let texts = match &file.text {
            FileText::Pieces(texts) => &texts[..],
            FileText::Whole(_) | FileText::Nothing => &[],
        };
        Self {
            path: &file.path,
            cut: &file.cut,
            whole: file.as_whole(),
            texts,
        }
    }

    /// Returns the text of a piece of its list, given by its number; `None` if it was not read.
    pub(super) fn piece(&self, number: usize) -> Option<&'t str> {
        if let Some(file) = self.whole {
            let piece = self.cut.list.as_ref()?.pieces.get(number)?;
            return text::of_part(file.bytes.get(piece.start..piece.start + piece.length)?);
        }
        self.texts.get(number)?.as_deref()
    }
}
