//! The order in which the entries of a file are written, for callers that change its text.

use std::borrow::Cow;
use std::ops::Range;

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
        if !self.is_sorted_between(targets(first)) {
            return false;
        }
        let range = targets(first).start..targets(last).end;
        let entries = self.stored_entries();
        let entries = entries.filter(|entry| range.contains(&entry.written()));
        let mut entries: Vec<(Text, Entry<'_>)> =
            entries.map(|entry| (entry.written(), entry)).collect();
        entries.sort_unstable_by_key(|(written, _)| *written);
        let catalogue = Catalogue::new(Some(self));
        let codes = entries
            .iter()
            .map(|(_, entry)| OwnCode::of(&catalogue, *entry));
        codes.is_sorted_by(|one, other| one.bytes() <= other.bytes())
    }

    /// Returns whether the entries with some targets are in the order of their codes. If they are not, no
    /// entry after the first out of order is looked up.
    fn is_sorted_between(&self, targets: Range<Text>) -> bool {
        let catalogue = Catalogue::for_few(self);
        let entries = self.entries_between(targets);
        let codes = entries.map(|entry| OwnCode::of(&catalogue, entry));
        codes.is_sorted_by(|one, other| one.bytes() <= other.bytes())
    }

    fn file_number(&self, path: &str) -> Option<u32> {
        let all = self.all_files();
        let number = all.iter().position(|it| **it == *path)?;
        u32::try_from(number).ok()
    }
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
