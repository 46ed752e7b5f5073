//! Pieces: the parts of documents that the entries of a site come from, by which the next version of
//! its table takes over the entries of unchanged parts.
//!
//! The data of a piece are contiguous in every store of a site except the index, because entries are
//! stored as written. So a piece is its start, and a few bytes for some hundred entries.

use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::arena::Text;
use crate::mapping::value::{Defaults, Diagnostic};

/// The SHA-256 (FIPS 180-4) of the text of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PieceId([u8; 32]);

impl PieceId {
    pub(crate) fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).0)
    }
}

/// A piece of a document.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// `None` for a piece that is read anew in every version.
    pub(crate) id: Option<PieceId>,
    /// What was found when it was read, if anything, with lines relative to its own.
    pub(crate) warnings: Option<Arc<[Diagnostic]>>,
    /// The target of its first entry.
    pub(crate) start: Text,
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
    /// A piece of the version before, by its number, and its first line now.
    Known { number: usize, line: u32 },
    /// A piece whose entries are in the draft, where its start is.
    New(Piece),
}

impl Part {
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
    /// The number of its file, now and in the version before, if it has known pieces.
    pub(crate) file: u32,
    pub(crate) old_file: Option<u32>,
    pub(crate) defaults: Defaults,
    /// Its pieces, in order. Over all documents of a site, the numbers of known ones ascend.
    pub(crate) parts: Vec<Part>,
}

/// The pieces of a site; none if it was compiled without regard to a next version.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// In the order of documents and lines, which is that of their entries.
    all: Vec<Piece>,
    /// In the order of their numbers.
    documents: Vec<PiecedDocument>,
}

impl Pieces {
    /// Returns the pieces of documents whose entries are all in the draft of their site.
    pub(super) fn of_new(documents: &[PartedDocument]) -> Self {
        let mut pieces = Self::default();
        for document in documents {
            pieces.begin(document.file, document.defaults);
            let new = document.parts.iter().filter_map(|part| match part {
                Part::New(piece) => Some(piece.clone()),
                Part::Known { .. } => None,
            });
            pieces.all.extend(new);
        }
        pieces
    }

    /// Begins the pieces of the next document.
    pub(super) fn begin(&mut self, file: u32, defaults: Defaults) {
        self.documents.push(PiecedDocument {
            file,
            defaults,
            first: self.all.len(),
        });
    }

    /// Adds the next piece of the current document.
    pub(super) fn push(&mut self, piece: Piece) {
        self.all.push(piece);
    }

    /// Returns the piece with the given number.
    pub(crate) fn piece(&self, number: usize) -> &Piece {
        &self.all[number]
    }

    pub(super) fn len(&self) -> usize {
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

    /// Returns the numbers of the files of the documents.
    pub(crate) fn files(&self) -> impl Iterator<Item = u32> {
        self.documents.iter().map(|document| document.file)
    }

    /// Returns the numbers of pieces by the targets of their entries.
    pub(super) fn by_target(&self) -> PieceOfTarget<'_> {
        let mut starts = Vec::new();
        for (number, piece) in self.all.iter().enumerate() {
            let block = piece.start.offset() as usize >> BLOCK_BITS;
            // The piece in which a block begins is the one before the first that begins in it.
            while starts.len() <= block {
                starts.push(number.saturating_sub(1));
            }
        }
        PieceOfTarget {
            all: &self.all,
            starts,
        }
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
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

/// The length of a block of targets, as a power of two: less than most pieces have.
const BLOCK_BITS: u32 = 12;

/// A directory of pieces by the targets of their entries.
pub(super) struct PieceOfTarget<'p> {
    all: &'p [Piece],
    /// The piece in which each block of targets begins.
    starts: Vec<usize>,
}

impl PieceOfTarget<'_> {
    /// Returns the number of the piece of a target.
    pub(super) fn find(&self, target: Text) -> usize {
        let block = target.offset() as usize >> BLOCK_BITS;
        let mut number = match self.starts.get(block) {
            Some(start) => *start,
            None => self.all.len().saturating_sub(1),
        };
        while self
            .all
            .get(number + 1)
            .is_some_and(|next| next.start <= target)
        {
            number += 1;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::super::arena::Arena;
    use super::*;

    #[test]
    fn finds_the_piece_of_each_target() {
        let mut arena = Arena::default();
        let (mut pieces, mut expected) = (Pieces::default(), Vec::new());
        pieces.begin(0, Defaults::default());
        for number in 0..300 {
            let length = [3, 5000, 40, 20_000][number % 4];
            let count = number % 7 + 1;
            for entry in 0..count {
                let start = arena.store(&"x".repeat(length));
                if entry == 0 {
                    pieces.push(Piece {
                        id: None,
                        warnings: None,
                        start,
                        line: 1,
                    });
                }
                expected.push((start, number));
            }
        }
        let by_target = pieces.by_target();
        for (target, number) in expected {
            assert_eq!(by_target.find(target), number);
        }
    }
}
