//! Records: what a site keeps of each entry, in twenty bytes.
//!
//! What entries have in common, and that is most of what they are, is a shape, kept once.

use std::collections::HashMap;

use super::arena::{Text, index};
use super::{Forward, Position, Status};

/// An entry, but for what few have.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed(4))]
pub(super) struct Record {
    /// The first 64 bits of the SHA-256 of the target, by which the entry is found; their complement
    /// if these bits do not spell its code, so that whoever looks for a code meets no such entry.
    pub(super) key: u64,
    /// The target, which is the entry's identity, too: those written later are greater.
    pub(super) target: Text,
    /// The line it begins in.
    pub(super) line: u32,
    /// Its shape, by number.
    pub(super) shape: u32,
}

/// What many entries have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// The file it is written in, by number.
    pub(super) file: u32,
    /// The column it begins in.
    pub(super) column: u32,
    /// Where its URL stands, in lines from the entry's own; `None` for one that has dropped it.
    pub(super) url: Option<Position>,
    pub(super) status: Status,
    pub(super) forward: Forward,
    /// In seconds.
    pub(super) max_age: u32,
    /// What it does not say of these itself.
    pub(super) unsaid: Unsaid,
    /// It has the code that the hash of its target spells.
    pub(super) is_hashed: bool,
    /// It has codes that are listed.
    pub(super) has_codes: bool,
    pub(super) has_notes: bool,
    pub(super) has_term: bool,
}

/// What an entry leaves to its document's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Unsaid {
    pub(super) status: bool,
    pub(super) forward: bool,
    pub(super) max_age: bool,
}

/// Shapes by their numbers, most of them once.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    all: Vec<Shape>,
    numbers: HashMap<Shape, u32>,
    /// Most entries look like the one before.
    last: Option<(Shape, u32)>,
}

impl Shapes {
    /// Returns the number of a shape.
    pub(super) fn number(&mut self, shape: Shape) -> u32 {
        if let Some((last, number)) = self.last
            && last == shape
        {
            return number;
        }
        let number = *self.numbers.entry(shape).or_insert_with(|| {
            self.all.push(shape);
            index(self.all.len() - 1)
        });
        self.last = Some((shape, number));
        number
    }

    /// Returns the shape of that number.
    pub(super) fn get(&self, number: u32) -> &Shape {
        &self.all[number as usize]
    }

    /// Returns the shapes; numbers given so far stay, and no shape as changed here gets one again.
    pub(super) fn all_mut(&mut self) -> &mut [Shape] {
        self.numbers.clear();
        self.last = None;
        &mut self.all
    }

    /// Takes other shapes in; returns by how much their numbers grew.
    pub(super) fn append(&mut self, other: Self) -> u32 {
        let by = index(self.all.len());
        self.all.extend(other.all);
        by
    }

    /// Returns the shapes in the order of their numbers.
    pub(super) fn into_all(self) -> Vec<Shape> {
        self.all
    }
}
