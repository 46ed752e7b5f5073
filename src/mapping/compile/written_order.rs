//! The order in which the entries of a file are written, for callers that change its text.

use std::borrow::Cow;

use crate::mapping::cutting::Cut;
use crate::mapping::packed::{Catalogue, Entry, Site, Text};
use crate::mapping::value::code_bytes_of_key;

impl Site {
    /// Returns whether a file of the site was compiled from these pieces, so that each of them is in block
    /// form.
    pub fn is_in_pieces(&self, path: &str, cut: &Cut) -> bool {
        let file = self.file_number(path);
        let Some((_, numbers)) = file.and_then(|it| self.pieces().of_file(it)) else {
            return false;
        };
        let lines = numbers.map(|number| self.pieces().piece(number).line);
        lines.eq(cut.pieces().iter().map(|piece| piece.line))
    }

    /// Returns whether the entries of a file, from its piece with a number on, are in the order of their
    /// codes.
    pub fn is_sorted_from(&self, path: &str, piece: usize) -> bool {
        let file = self.file_number(path);
        let Some((_, numbers)) = file.and_then(|it| self.pieces().of_file(it)) else {
            return false;
        };
        let numbers = numbers.start + piece..numbers.end;
        let targets = |number: usize| self.targets_of_piece(number);
        let (Some(first), Some(last)) = (numbers.clone().next(), numbers.last()) else {
            return true;
        };
        let first_piece = self.entries_between(targets(first));
        if !are_sorted(&Catalogue::for_few(self), first_piece) {
            return false;
        }
        let range = targets(first).start..targets(last).end;
        let numbers = self.numbers_between(&[range]).into_iter();
        let entries = numbers.map(|number| self.entry(number));
        let mut entries: Vec<(Text, Entry<'_>)> =
            entries.map(|entry| (entry.written(), entry)).collect();
        entries.sort_unstable_by_key(|(written, _)| *written);
        let entries = entries.into_iter().map(|(_, entry)| entry);
        are_sorted(&Catalogue::new(Some(self)), entries)
    }

    fn file_number(&self, path: &str) -> Option<u32> {
        let all = self.all_files();
        let number = all.iter().position(|it| **it == *path)?;
        u32::try_from(number).ok()
    }
}

/// Returns whether entries are in the order of their codes; those after the first that is not are not
/// visited.
fn are_sorted<'t>(catalogue: &Catalogue<'t>, entries: impl Iterator<Item = Entry<'t>>) -> bool {
    let codes = entries.map(|entry| OwnCode::of(catalogue, entry));
    codes.is_sorted_by(|one, other| one.bytes() <= other.bytes())
}

/// The code of an entry, of which most are derived from a hash.
enum OwnCode<'t> {
    Hashed([u8; 8]),
    Listed(Cow<'t, str>),
}

impl<'t> OwnCode<'t> {
    fn of(catalogue: &Catalogue<'t>, entry: Entry<'t>) -> Self {
        match entry.shape().is_hashed {
            true => Self::Hashed(code_bytes_of_key(entry.key())),
            false => Self::Listed(catalogue.codes(entry).next().unwrap_or_default()),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Hashed(bytes) => bytes,
            Self::Listed(code) => code.as_bytes(),
        }
    }
}
