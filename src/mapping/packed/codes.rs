//! The codes of a site that are listed: those that a person wrote, and those that the hashes of
//! targets do not find.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use super::arena::{Arena, Text, index};
use crate::mapping::value::MAX_CODE_BYTES;

/// Listed codes in the order in which they are written, and an index of them.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    texts: Arena,
    listed: Vec<Listed>,
    numbers: HashTable<u32>,
    hasher: RandomState,
}

/// A code, and what it leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listed {
    text: Text,
    /// The entry, by number.
    pub(crate) entry: u32,
    pub(crate) kind: CodeKind,
}

/// How an entry came by a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeKind {
    /// Derived by the site's scheme.
    Auto,
    /// Written out as text.
    Explicit,
    /// Written out as a number.
    Number,
    /// One more code for the same target.
    Alias,
}

impl Codes {
    /// Adds a code; one that is there already is listed once more, and not found.
    pub(crate) fn push(&mut self, code: &str, entry: u32, kind: CodeKind) {
        let number = index(self.listed.len());
        let text = self.texts.store(code);
        self.listed.push(Listed { text, entry, kind });
        let (listed, texts, hasher) = (&self.listed, &self.texts, &self.hasher);
        let text_of = |&number: &u32| texts.get(listed[number as usize].text);
        let hash_of = |number: &u32| hasher.hash_one(text_of(number));
        let is_it = |number: &u32| text_of(number) == code;
        let entry = self.numbers.entry(hasher.hash_one(code), is_it, hash_of);
        entry.or_insert(number);
    }

    /// Returns the code of that text.
    pub(crate) fn find(&self, code: &str) -> Option<Listed> {
        Some(self.listed[self.number_of(code)? as usize])
    }

    /// Returns the number of the code of that text.
    pub(crate) fn number_of(&self, code: &str) -> Option<u32> {
        // A request may bring any length, and hashing it would take as long.
        if self.listed.is_empty() || code.len() > MAX_CODE_BYTES {
            return None;
        }
        let hash = self.hasher.hash_one(code);
        let is_it = |&number: &u32| self.text(self.listed[number as usize]) == code;
        self.numbers.find(hash, is_it).copied()
    }

    /// Returns the text of a code.
    pub(crate) fn text(&self, listed: Listed) -> &str {
        self.texts.get(listed.text)
    }

    /// Returns all codes, in the order in which they are written.
    pub(crate) fn listed(&self) -> &[Listed] {
        &self.listed
    }

    /// Gives back the memory that was reserved for more.
    pub(super) fn shrink(&mut self) {
        self.texts.shrink();
        self.listed.shrink_to_fit();
        let (listed, texts, hasher) = (&self.listed, &self.texts, &self.hasher);
        let hash_of = |&number: &u32| hasher.hash_one(texts.get(listed[number as usize].text));
        self.numbers.shrink_to_fit(hash_of);
    }

    /// Returns the memory that it holds, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.texts.heap_bytes()
            + self.listed.capacity() * size_of::<Listed>()
            + self.numbers.allocation_size()
    }
}
