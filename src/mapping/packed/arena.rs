//! Arenas: many texts in one piece of memory, each identified by its offset.
//!
//! A text of up to 126 bytes takes one byte more than its own: its length precedes it, in ASCII
//! characters, so that the whole is one string.

use std::collections::TryReserveError;
use std::ops::Range;

/// Marks a length that takes more than one character.
const LONG: u8 = 0x7F;

/// The number of characters of a longer length, with seven bits each.
const LONG_DIGITS: usize = 5;

/// Many texts, one after another.
#[derive(Debug, Default)]
pub(crate) struct Arena(String);

/// The offset of a text in its arena; a text stored later has a greater one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Text(u32);

impl Text {
    /// Returns its offset.
    pub(crate) fn offset(self) -> u32 {
        self.0
    }

    /// Returns its offset after its arena was appended to another, given the distance by which
    /// texts moved.
    pub(crate) fn moved(self, by: u32) -> Self {
        let moved = self.0.checked_add(by);
        Self(moved.expect("compile bounds the text of a table to 32-bit offsets"))
    }

    /// Returns its offset after it was copied to another arena.
    pub(super) fn shifted(self, by: Shift) -> Self {
        Self(self.0.wrapping_add(by.0))
    }
}

/// The distance between the same texts in two arenas, modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shift(u32);

impl Arena {
    /// Reserves room for texts, in bytes; unused room is released by [`shrink`](Self::shrink).
    ///
    /// # Errors
    ///
    /// Fails if that much memory is not available.
    pub(super) fn try_reserve(&mut self, bytes: usize) -> Result<(), TryReserveError> {
        self.0.try_reserve(bytes)
    }

    /// Stores a text.
    pub(crate) fn store(&mut self, text: &str) -> Text {
        let at = Text(index(self.0.len()));
        match u8::try_from(text.len()) {
            Ok(length @ ..LONG) => self.0.push(char::from(length)),
            _ => {
                self.0.push(char::from(LONG));
                for digit in (0..LONG_DIGITS).rev() {
                    let bits = (text.len() >> (7 * digit)) & 0x7F;
                    // Seven bits fit.
                    self.0.push(char::from(bits as u8));
                }
            }
        }
        self.0.push_str(text);
        at
    }

    /// Returns a stored text.
    pub(crate) fn get(&self, text: Text) -> &str {
        let (start, end) = self.bounds(text.0 as usize);
        &self.0[start..end]
    }

    /// Returns every text, in the order of storing.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Text, &str)> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let at = next;
            (at < self.0.len()).then(|| {
                let (start, end) = self.bounds(at);
                next = end;
                (Text(index(at)), &self.0[start..end])
            })
        })
    }

    /// Returns all texts as they are stored, each after its length.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns a cursor at the first text.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor {
            arena: self,
            number: 0,
            at: 0,
            next: 0,
        }
    }

    /// Returns the offset of the next text.
    pub(crate) fn end(&self) -> Text {
        Text(index(self.0.len()))
    }

    /// Appends some texts of another arena, given the first and the end; returns the distance by which
    /// they moved.
    pub(super) fn copy(&mut self, other: &Self, texts: Range<Text>) -> Shift {
        let shift = Shift(self.end().0.wrapping_sub(texts.start.0));
        let bytes = texts.start.0 as usize..texts.end.0 as usize;
        self.0.push_str(&other.0[bytes]);
        shift
    }

    /// Appends all texts of another arena; returns the distance by which they moved.
    pub(crate) fn append(&mut self, other: Self) -> u32 {
        let by = index(self.0.len());
        if by == 0 {
            *self = other;
        } else {
            self.0.push_str(&other.0);
        }
        by
    }

    /// Releases the memory that was reserved for further texts.
    pub(super) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Returns the length of all texts, in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the memory in use, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.capacity()
    }

    /// Returns the bounds of the text whose length is at an offset.
    fn bounds(&self, at: usize) -> (usize, usize) {
        let bytes = self.0.as_bytes();
        let (start, length) = match bytes[at] {
            LONG => {
                let digits = &bytes[at + 1..=at + LONG_DIGITS];
                let push = |length: usize, digit: &u8| length << 7 | usize::from(*digit);
                (at + 1 + LONG_DIGITS, digits.iter().fold(0, push))
            }
            length => (at + 1, usize::from(length)),
        };
        (start, start + length)
    }
}

/// A position in an arena that moves from text to text.
pub(crate) struct Cursor<'a> {
    arena: &'a Arena,
    /// How many texts are before the current one.
    number: usize,
    /// Where the current text begins, with its length, and where the next does; the same before the
    /// first move.
    at: usize,
    next: usize,
}

impl<'a> Cursor<'a> {
    /// Moves on to the text that has a byte of the arena, or whose length has it; returns where that
    /// text is, without its length. It never moves back.
    pub(crate) fn seek(&mut self, offset: usize) -> Range<usize> {
        while self.next <= offset {
            self.number += usize::from(self.next > self.at);
            self.at = self.next;
            self.next = self.arena.bounds(self.at).1;
        }
        let (start, end) = self.arena.bounds(self.at);
        start..end
    }

    /// Returns the number of the current text, in the order of storing.
    pub(crate) fn number(&self) -> u32 {
        index(self.number)
    }

    /// Returns the current text.
    pub(crate) fn text(&self) -> (Text, &'a str) {
        let text = Text(index(self.at));
        (text, self.arena.get(text))
    }
}

/// Narrows an index or an offset.
///
/// `compile` refuses more text than offsets of 32 bits can address, and everything counted here
/// takes at least one byte of it.
pub(crate) fn index(n: usize) -> u32 {
    u32::try_from(n).expect("compile bounds the text of a table to 32-bit offsets")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_what_was_stored() {
        let lengths = [0, 1, 126, 127, 128, 8192, 1 << 20];
        let texts: Vec<_> = lengths.iter().map(|&length| "ä".repeat(length)).collect();
        let mut arena = Arena::default();
        let stored: Vec<_> = texts.iter().map(|text| arena.store(text)).collect();
        for (text, &at) in texts.iter().zip(&stored) {
            assert_eq!(arena.get(at), text);
        }
        assert!(stored.is_sorted());
        assert!(
            arena
                .iter()
                .eq(stored.iter().copied().zip(texts.iter().map(|text| &**text)))
        );
        let mut cursor = arena.cursor();
        for (number, (text, &at)) in (0..).zip(texts.iter().zip(&stored)) {
            let place = cursor.seek(at.offset() as usize);
            assert_eq!(&arena.as_bytes()[place.clone()], text.as_bytes());
            assert_eq!(cursor.seek(place.end - 1), place);
            assert_eq!((cursor.number(), cursor.text()), (number, (at, &**text)));
        }
    }

    #[test]
    fn texts_of_another_arena_move() {
        let (mut one, mut other) = (Arena::default(), Arena::default());
        one.store("a");
        let text = other.store("b");
        let by = one.append(other);
        assert_eq!(one.get(text.moved(by)), "b");
        assert_eq!(one.iter().count(), 2);
    }
}
