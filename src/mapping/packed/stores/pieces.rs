//! Pieces: the parts of documents from which the entries of a site come. They let the next version
//! of its table take over the entries of unchanged parts.
//!
//! The data of a piece are contiguous in every store of a site except the index, because entries are
//! stored as written. So a piece is only its start: a few bytes for some hundred entries.

use std::ops::Range;
use std::sync::Arc;

use super::arena::Text;
use crate::mapping::value::{Defaults, Diagnostic, PieceExtent, PieceId};

/// A piece of a document.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// `None` for a piece that is read again in every version.
    pub(crate) id: Option<PieceId>,
    /// The warnings found when it was read, if any, with lines relative to its own.
    pub(crate) warnings: Option<Arc<[Diagnostic]>>,
    /// The target of its first entry.
    pub(crate) start: Text,
    /// The length of its text, in bytes; 0 if that is not known.
    pub(crate) length: u32,
    /// The number of its first line, from 1.
    pub(crate) line: u32,
}

/// A document in pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PiecedDocument {
    /// The number of the file.
    pub(crate) file: u32,
    pub(crate) defaults: Defaults,
    /// The number of its first piece.
    pub(crate) first: usize,
}

/// A piece of a document of the next version.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// A piece of the previous version, by its number, and its current first line.
    Known { number: usize, line: u32 },
    /// A piece whose entries are in the draft, where its start is.
    New(Piece),
}

impl Part {
    /// Returns the piece if its entries are in the draft.
    pub(crate) fn as_new(&self) -> Option<&Piece> {
        match self {
            Self::New(piece) => Some(piece),
            Self::Known { .. } => None,
        }
    }

    /// Returns the number of its first line, from 1.
    pub(crate) fn line(&self) -> u32 {
        match self {
            Self::Known { line, .. } => *line,
            Self::New(piece) => piece.line,
        }
    }
}

/// A document of the next version.
#[derive(Debug, Default)]
pub(crate) struct PartedDocument {
    /// The number of its file, now and in the previous version, if it has known pieces.
    pub(crate) file: u32,
    pub(crate) old_file: Option<u32>,
    pub(crate) defaults: Defaults,
    /// Its pieces, in order. Over all documents of a site, the numbers of known ones ascend.
    pub(crate) parts: Vec<Part>,
}

/// The pieces of a site; none if it was not compiled for a next version.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// In the order of documents and lines, which is that of their entries.
    all: Vec<Piece>,
    /// In the order of their numbers.
    documents: Vec<PiecedDocument>,
}

impl Pieces {
    /// Returns the pieces of documents whose entries are all in the draft of their site.
    pub(crate) fn of_new(documents: &[PartedDocument]) -> Self {
        let mut pieces = Self::default();
        for document in documents {
            pieces.begin(document.file, document.defaults);
            let new = document.parts.iter().filter_map(Part::as_new);
            pieces.all.extend(new.cloned());
        }
        pieces
    }

    /// Begins the pieces of the next document.
    pub(crate) fn begin(&mut self, file: u32, defaults: Defaults) {
        self.documents.push(PiecedDocument {
            file,
            defaults,
            first: self.all.len(),
        });
    }

    /// Adds the next piece of the current document.
    pub(crate) fn push(&mut self, piece: Piece) {
        self.all.push(piece);
    }

    /// Returns the piece with the given number.
    pub(crate) fn piece(&self, number: usize) -> &Piece {
        &self.all[number]
    }

    /// Returns the number of the last piece that begins with a target or before it.
    pub(crate) fn before(&self, target: Text) -> usize {
        self.all.partition_point(|piece| piece.start <= target) - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the document in the file with the given number, and the numbers of its pieces.
    pub(crate) fn of_file(&self, file: u32) -> Option<(&PiecedDocument, Range<usize>)> {
        let found = self.documents.binary_search_by_key(&file, |it| it.file);
        let at = found.ok()?;
        let next = self.documents.get(at + 1);
        let end = next.map_or(self.all.len(), |next| next.first);
        let document = &self.documents[at];
        Some((document, document.first..end))
    }

    /// Returns the pieces of the document in a file that are identified, each with its extent if another
    /// one follows it.
    pub(crate) fn identified(
        &self,
        file: u32,
    ) -> impl Iterator<Item = (PieceId, Option<PieceExtent>)> {
        let numbers = self.of_file(file).map(|(_, numbers)| numbers);
        let pieces = &self.all[numbers.unwrap_or_default()];
        pieces.iter().enumerate().filter_map(|(number, piece)| {
            let next = pieces.get(number + 1).filter(|_| piece.length > 0);
            let extent = next.map(|next| PieceExtent {
                length: piece.length as usize,
                lines: next.line - piece.line,
            });
            Some((piece.id?, extent))
        })
    }

    /// Returns the numbers of the files of the documents.
    pub(crate) fn files(&self) -> impl Iterator<Item = u32> {
        self.documents.iter().map(|document| document.file)
    }

    /// Returns the memory in use, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        let warnings = self
            .all
            .iter()
            .filter_map(|piece| piece.warnings.as_deref());
        let texts = warnings
            .clone()
            .flatten()
            .map(|it| it.message.capacity() + it.hint.as_ref().map_or(0, |hint| hint.capacity()));
        self.all.capacity() * size_of::<Piece>()
            + warnings.map(size_of_val).sum::<usize>()
            + texts.sum::<usize>()
            + self.documents.capacity() * size_of::<PiecedDocument>()
    }
}
