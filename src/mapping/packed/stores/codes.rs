//! The listed codes of a site: explicit codes, and auto codes that the hashes of targets do not
//! find.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use hashbrown::HashTable;

use super::arena::{Arena, Text, index};
use super::kept::Kept;
use crate::mapping::value::{Case, MAX_CODE_BYTES, fold_case};

/// The most bytes of a code whose case is folded, which may make each character shorter.
const MAX_UNFOLDED_BYTES: usize = 4 * MAX_CODE_BYTES;

/// The most bytes of a code whose case was folded, which may make a character of two bytes one of three.
const MAX_FOLDED_BYTES: usize = 2 * MAX_CODE_BYTES;

/// Listed codes in written order, and an index of them.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    texts: Arena,
    listed: Vec<Listed>,
    numbers: HashTable<u32>,
    /// The numbers of the codes that are found in any case, by their folded texts, if there are any such.
    folded: Option<HashTable<u32>>,
    hasher: RandomState,
}

/// A code, and the entry that it leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listed {
    text: Text,
    /// The entry, by number.
    pub(crate) entry: u32,
    pub(crate) kind: CodeKind,
}

/// The origin of an entry's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeKind {
    /// Derived by the site's scheme.
    Auto,
    /// Written explicitly as text.
    Explicit,
    /// Written explicitly as a number.
    Number,
    /// An additional code for the same target.
    Alias,
}

impl CodeKind {
    /// Returns whether a person chose the spelling.
    pub(crate) fn is_custom(self) -> bool {
        matches!(self, Self::Explicit | Self::Alias)
    }
}

impl Codes {
    /// Returns an empty list of codes that are found in their own or in any case.
    pub(crate) fn new(case: Case) -> Self {
        Self {
            folded: (case == Case::Fold).then(HashTable::new),
            ..Self::default()
        }
    }

    /// Reserves room for more codes; unused room is released by [`shrink`](Self::shrink).
    pub(crate) fn reserve(&mut self, count: usize) {
        self.listed.reserve(count);
        let (listed, texts, hasher) = (&self.listed, &self.texts, &self.hasher);
        let text_of = |number: &u32| texts.get(listed[*number as usize].text);
        let hash_of = |number: &u32| hasher.hash_one(text_of(number));
        self.numbers.reserve(count, hash_of);
        if let Some(folded) = &mut self.folded {
            folded.reserve(count, |number| hasher.hash_one(fold_case(text_of(number))));
        }
    }

    /// Adds a code; one that already exists is listed once more, but not found.
    pub(crate) fn push(&mut self, code: &str, entry: u32, kind: CodeKind) {
        let number = self.list(code, entry, kind);
        self.make_found(number);
    }

    /// Adds a code, which is not found yet; returns its number.
    pub(crate) fn list(&mut self, code: &str, entry: u32, kind: CodeKind) -> u32 {
        let number = index(self.listed.len());
        let text = self.texts.store(code);
        self.listed.push(Listed { text, entry, kind });
        number
    }

    /// Makes a listed code found, unless one with the same text is.
    pub(crate) fn make_found(&mut self, number: u32) {
        let (listed, texts, hasher) = (&self.listed, &self.texts, &self.hasher);
        let text_of = |&number: &u32| texts.get(listed[number as usize].text);
        let hash_of = |number: &u32| hasher.hash_one(text_of(number));
        let code = text_of(&number);
        let is_it = |number: &u32| text_of(number) == code;
        let entry = self.numbers.entry(hasher.hash_one(code), is_it, hash_of);
        entry.or_insert(number);
        let Some(folded) = &mut self.folded else {
            return;
        };
        if listed[number as usize].kind.is_custom() {
            let hash_of = |number: &u32| hasher.hash_one(fold_case(text_of(number)));
            let code = fold_case(code);
            let is_it = |number: &u32| fold_case(text_of(number)) == code;
            let entry = folded.entry(hasher.hash_one(&code), is_it, hash_of);
            entry.or_insert(number);
        }
    }

    /// Adds codes of another list, given by their numbers, which are not found yet; `entry_of` returns
    /// the number of an entry here.
    pub(crate) fn copy(
        &mut self,
        other: &Self,
        numbers: Range<usize>,
        entry_of: impl Fn(u32) -> u32,
    ) {
        let start_of = |number: usize| match other.listed.get(number) {
            Some(listed) => listed.text,
            None => other.texts.end(),
        };
        let shift = (self.texts).copy(&other.texts, start_of(numbers.start)..start_of(numbers.end));
        let listed = other.listed[numbers].iter();
        self.listed.extend(listed.map(|listed| Listed {
            text: listed.text.shifted(shift),
            entry: entry_of(listed.entry),
            kind: listed.kind,
        }));
    }

    /// Makes the codes found that were found in another list and copied from there, without hashing them
    /// again.
    pub(crate) fn find_as(&mut self, other: &Self, copied: &Kept) {
        self.hasher = other.hasher.clone();
        self.numbers = other.numbers.clone();
        self.folded.clone_from(&other.folded);
        for numbers in std::iter::once(&mut self.numbers).chain(&mut self.folded) {
            numbers.retain(|number| match copied.of(*number) {
                Some(new) => {
                    *number = new;
                    true
                }
                None => false,
            });
        }
    }

    /// Returns the listed code with the given text.
    pub(crate) fn find(&self, code: &str) -> Option<Listed> {
        Some(self.listed[self.number_of(code)? as usize])
    }

    /// Returns the number of the listed code with the given text.
    pub(crate) fn number_of(&self, code: &str) -> Option<u32> {
        // A request may have any length, and hashing takes proportional time.
        if self.listed.is_empty() || code.len() > MAX_CODE_BYTES {
            return None;
        }
        let hash = self.hasher.hash_one(code);
        let is_it = |&number: &u32| self.text(self.listed[number as usize]) == code;
        self.numbers.find(hash, is_it).copied()
    }

    /// Returns the number of the listed code that a text spells in any case, if the case of letters does not
    /// count.
    pub(crate) fn number_in_any_case(&self, code: &str) -> Option<u32> {
        self.number_of_folded(&self.folded_form(code)?)
    }

    /// Returns a text without differences of case, if case does not count and a code may be as long.
    pub(crate) fn folded_form<'c>(&self, text: &'c str) -> Option<Cow<'c, str>> {
        let may_be_found = self.folded.is_some() && text.len() <= MAX_UNFOLDED_BYTES;
        may_be_found.then(|| fold_case(text))
    }

    /// Returns the number of the listed code with this text in any case, given without differences of case.
    pub(crate) fn number_of_folded(&self, code: &str) -> Option<u32> {
        let folded = self.folded.as_ref()?;
        if code.len() > MAX_FOLDED_BYTES {
            return None;
        }
        let is_it = |&number: &u32| fold_case(self.text(self.listed[number as usize])) == code;
        folded.find(self.hasher.hash_one(code), is_it).copied()
    }

    /// Returns the text of a code.
    pub(crate) fn text(&self, listed: Listed) -> &str {
        self.texts.get(listed.text)
    }

    /// Returns the texts of all codes, in written order.
    pub(crate) fn texts(&self) -> &Arena {
        &self.texts
    }

    /// Returns all codes, in written order.
    pub(crate) fn listed(&self) -> &[Listed] {
        &self.listed
    }

    /// Releases the memory that was reserved for more.
    pub(crate) fn shrink(&mut self) {
        self.texts.complete();
        self.listed.shrink_to_fit();
        let (listed, texts, hasher) = (&self.listed, &self.texts, &self.hasher);
        let hash_of = |&number: &u32| hasher.hash_one(texts.get(listed[number as usize].text));
        self.numbers.shrink_to_fit(hash_of);
        if let Some(folded) = &mut self.folded {
            let text_of = |&number: &u32| texts.get(listed[number as usize].text);
            folded.shrink_to_fit(|number| hasher.hash_one(fold_case(text_of(number))));
        }
    }

    /// Returns the memory in use, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.texts.heap_bytes()
            + self.listed.capacity() * size_of::<Listed>()
            + self.numbers.allocation_size()
            + self.folded.as_ref().map_or(0, HashTable::allocation_size)
    }
}
