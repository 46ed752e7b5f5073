//! Records: the part of an entry that a site stores separately, in fifteen bytes.
//!
//! Properties that entries share, which are most of them, form a shape, stored once.

use super::arena::Text;
use crate::mapping::value::{Forward, Position, Status};

/// An entry, without its rare properties.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed)]
pub(crate) struct Record {
    /// The first 64 bits of the SHA-256 of the target, by which the entry is found; their
    /// complement if its code does not encode these bits, so that a lookup by code does not find it.
    pub(crate) key: u64,
    /// The target, which is also the identity of the entry: later ones are greater.
    pub(crate) target: Text,
    /// The line on which it begins, counted from that of its block.
    pub(crate) line: u16,
    /// Its shape, or the marker for further shapes.
    pub(crate) shape: ShapeNumber,
}

/// Properties that many entries share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
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
    /// Whether paths below its codes lead to a URL of their own, which is a note.
    pub(crate) has_below: bool,
    pub(crate) has_term: bool,
    /// Whether some of its notes are variants.
    pub(crate) has_variants: bool,
    /// Whether paths below its codes lead to a URL of their own for some variants.
    pub(crate) variants_have_below: bool,
}

impl Shape {
    /// Returns whether paths below its codes lead anywhere.
    pub(crate) fn takes_below(&self) -> bool {
        self.forward.takes_below() || self.has_below
    }
}

/// The properties that an entry takes from its document's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Unsaid {
    pub(crate) status: bool,
    pub(crate) forward: bool,
    pub(crate) max_age: bool,
}

/// The number of a shape among the first, or [`MANY`](Self::MANY).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShapeNumber(u8);

impl ShapeNumber {
    /// Marks every further shape, whose number is listed with the entry's target.
    pub(super) const MANY: Self = Self(u8::MAX);

    /// Returns a number in one byte, if it is one of the first.
    pub(super) fn new(number: u32) -> Self {
        match u8::try_from(number) {
            Ok(number) => Self(number),
            Err(_) => Self::MANY,
        }
    }

    /// Returns the number, if it is one of the first.
    #[inline]
    pub(super) fn first(self) -> Option<usize> {
        (self != Self::MANY).then_some(self.0.into())
    }
}
