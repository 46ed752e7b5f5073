//! Records: the part of an entry that a site stores separately, in twenty bytes.
//!
//! Properties that entries have in common, which are most of them, form a shape, stored once.

use std::collections::HashMap;

use super::arena::{Text, index};
use crate::mapping::value::{Forward, Position, Status};

/// An entry, without its rare properties.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) struct Record {
    /// The first 64 bits of the SHA-256 of the target, by which the entry is found; their
    /// complement if its code does not encode these bits, so that a lookup by code does not find it.
    pub(crate) key: u64,
    /// The target, which is also the identity of the entry: later ones are greater.
    pub(crate) target: Text,
    /// The line on which it begins.
    pub(crate) line: u32,
    /// The number of its shape.
    pub(crate) shape: u32,
}

/// Properties that many entries have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// The number of the file in which it is written.
    pub(crate) file: u32,
    /// The column in which it begins.
    pub(crate) column: u32,
    /// The position of its URL, with lines relative to the entry's own; `None` if it has dropped
    /// it.
    pub(crate) url: Option<Position>,
    pub(crate) status: Status,
    pub(crate) forward: Forward,
    /// The time for which a redirect may be cached, in seconds.
    pub(crate) max_age: u32,
    /// The properties that it does not set itself.
    pub(crate) unsaid: Unsaid,
    /// Whether its code encodes the hash of its target.
    pub(crate) is_hashed: bool,
    /// Whether it has listed codes.
    pub(crate) has_codes: bool,
    pub(crate) has_notes: bool,
    pub(crate) has_term: bool,
}

/// The properties that an entry takes from its document's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Unsaid {
    pub(crate) status: bool,
    pub(crate) forward: bool,
    pub(crate) max_age: bool,
}

/// Shapes by number, mostly without repetition.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    all: Vec<Shape>,
    numbers: HashMap<Shape, u32>,
    /// The last shape: most entries look like the one before.
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

    /// Returns the shape with the given number.
    pub(crate) fn get(&self, number: u32) -> &Shape {
        &self.all[number as usize]
    }

    /// Returns the shapes for changing them; existing numbers stay valid, but a changed shape is
    /// not found by content.
    pub(super) fn all_mut(&mut self) -> &mut [Shape] {
        self.numbers.clear();
        self.last = None;
        &mut self.all
    }

    /// Appends other shapes; returns the amount by which their numbers grew.
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
