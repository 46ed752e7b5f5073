//! Records: what a site keeps of each entry, in twenty bytes.
//!
//! What entries have in common, and that is most of what they are, is a shape, kept once.

use std::collections::HashMap;

use super::arena::{Text, index};
use crate::mapping::value::{Forward, Position, Status};

/// An entry, but for what few have.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) struct Record {
    /// The first 64 bits of the SHA-256 of the target, by which the entry is found; their complement
    /// if these bits do not spell its code, so that whoever looks for a code meets no such entry.
    pub(crate) key: u64,
    /// The target, which is the entry's identity, too: those written later are greater.
    pub(crate) target: Text,
    /// The line it begins in.
    pub(crate) line: u32,
    /// Its shape, by number.
    pub(crate) shape: u32,
}

/// What many entries have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// The file it is written in, by number.
    pub(crate) file: u32,
    /// The column it begins in.
    pub(crate) column: u32,
    /// Where its URL stands, in lines from the entry's own; `None` for one that has dropped it.
    pub(crate) url: Option<Position>,
    pub(crate) status: Status,
    pub(crate) forward: Forward,
    /// In seconds.
    pub(crate) max_age: u32,
    /// What it does not say of these itself.
    pub(crate) unsaid: Unsaid,
    /// It has the code that the hash of its target spells.
    pub(crate) is_hashed: bool,
    /// It has codes that are listed.
    pub(crate) has_codes: bool,
    pub(crate) has_notes: bool,
    pub(crate) has_term: bool,
}

/// What an entry leaves to its document's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Unsaid {
    pub(crate) status: bool,
    pub(crate) forward: bool,
    pub(crate) max_age: bool,
}

/// Shapes by their numbers, most of them once.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    all: Vec<Shape>,
    numbers: HashMap<Shape, u32>,
    /// Most entries look like the one before.
    last: Option<(Shape, u32)>,
}

impl Shapes {
    /// Returns the number of a shape.
    pub(crate) fn number(&mut self, shape: Shape) -> u32 {
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
    pub(crate) fn get(&self, number: u32) -> &Shape {
        &self.all[number as usize]
    }

    /// Returns the shapes; numbers given so far stay, and no shape as changed here gets one again.
    pub(super) fn all_mut(&mut self) -> &mut [Shape] {
        self.numbers.clear();
        self.last = None;
        &mut self.all
    }

    /// Takes other shapes in; returns by how much their numbers grew.
    pub(crate) fn append(&mut self, other: Self) -> u32 {
        let by = index(self.all.len());
        self.all.extend(other.all);
        by
    }

    /// Returns the shapes in the order of their numbers.
    pub(super) fn into_all(self) -> Vec<Shape> {
        self.all
    }
}
