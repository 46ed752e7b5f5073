//! Arenas: many texts, one after another, each identified by its offset.
//!
//! A text of up to 126 bytes takes one byte more than its own: its length precedes it, in ASCII
//! characters, so that the whole is one string.
//!
//! A complete arena is one string in memory. The arena of the next version of a table is in segments,
//! most of which are parts of that string.

use std::collections::{HashMap, TryReserveError};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Marks a length that takes more than one character.
const LONG: u8 = 0x7F;

/// The number of characters of a longer length, with seven bits each.
const LONG_DIGITS: usize = 5;

/// The maximum number of segments of a complete arena: a text is found in as many steps as this has
/// bits. A change of one piece adds two, and beyond the maximum all texts are copied.
const MAX_SEGMENTS: usize = 1023;

/// Many texts, one after another.
#[derive(Default)]
pub(crate) struct Arena {
    segments: Vec<Segment>,
    /// The texts after all segments.
    own: String,
    /// The offset of the first of them.
    own_start: u32,
}

/// A part of a string, which other arenas may use too.
struct Segment {
    /// The offset of its first text in the arena.
    start: u32,
    string: Arc<String>,
    /// The texts are these bytes of the string.
    from: u32,
    length: u32,
}

impl Segment {
    fn text(&self) -> &str {
        let from = self.from as usize;
        &self.string[from..from + self.length as usize]
    }
}

/// The offset of a text in its arena; a text stored later has a greater one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Text(u32);

impl Text {
    /// Returns the text at an offset.
    pub(super) fn at(offset: u32) -> Self {
        Self(offset)
    }

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
    pub(crate) fn shifted(self, by: Shift) -> Self {
        Self(self.0.wrapping_add(by.0))
    }
}

/// The distance between equal texts in two arenas, modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shift(u32);

impl Arena {
    /// Reserves room for texts, in bytes; unused room is released by [`complete`](Self::complete).
    ///
    /// # Errors
    ///
    /// Fails if that much memory is not available.
    pub(super) fn try_reserve(&mut self, bytes: usize) -> Result<(), TryReserveError> {
        self.own.try_reserve(bytes)
    }

    /// Stores a text.
    pub(crate) fn store(&mut self, text: &str) -> Text {
        self.store_parts("", text)
    }

    /// Stores a text, given in two parts.
    pub(crate) fn store_parts(&mut self, start: &str, rest: &str) -> Text {
        let at = self.end();
        let length = start.len() + rest.len();
        match u8::try_from(length) {
            Ok(length @ ..LONG) => self.own.push(char::from(length)),
            _ => {
                self.own.push(char::from(LONG));
                for digit in (0..LONG_DIGITS).rev() {
                    let bits = (length >> (7 * digit)) & 0x7F;
                    // Seven bits fit.
                    self.own.push(char::from(bits as u8));
                }
            }
        }
        self.own.push_str(start);
        self.own.push_str(rest);
        at
    }

    /// Returns a stored text.
    pub(crate) fn get(&self, text: Text) -> &str {
        let (string, at) = self.locate(text.0);
        let (start, end) = bounds(string, at);
        &string[start..end]
    }

    /// Returns every text, in the order of storing.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Text, &str)> {
        self.chunks().flat_map(|(offset, chunk)| {
            let mut next = 0;
            std::iter::from_fn(move || {
                let at = next;
                (at < chunk.len()).then(|| {
                    let (start, end) = bounds(chunk, at);
                    next = end;
                    (Text(offset + index(at)), &chunk[start..end])
                })
            })
        })
    }

    /// Returns some texts, given the first and the end, in the order of storing.
    pub(crate) fn between(&self, texts: Range<Text>) -> impl Iterator<Item = (Text, &str)> {
        let mut next = texts.start.0;
        std::iter::from_fn(move || {
            let at = next;
            (at < texts.end.0).then(|| {
                let (string, place) = self.locate(at);
                let (start, end) = bounds(string, place);
                next += index(end - place);
                (Text(at), &string[start..end])
            })
        })
    }

    /// Returns all texts as they are stored, each after its length, in parts of whole texts with their
    /// offsets.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (u32, &str)> {
        let segments = self.segments.iter();
        let shared = segments.map(|segment| (segment.start, segment.text()));
        shared.chain([(self.own_start, &*self.own)])
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

    /// Returns the offset of the first text.
    pub(crate) fn start(&self) -> Text {
        Text(0)
    }

    /// Returns the offset of the next text.
    pub(crate) fn end(&self) -> Text {
        Text(index(self.len()))
    }

    /// Appends some texts of another arena, given the first and the end; returns the distance by which
    /// they moved. What is complete there is shared.
    pub(super) fn copy(&mut self, other: &Self, texts: Range<Text>) -> Shift {
        let shift = Shift(self.end().0.wrapping_sub(texts.start.0));
        let (start, end) = (texts.start.0, texts.end.0);
        let before = other
            .segments
            .partition_point(|it| it.start + it.length <= start);
        for segment in &other.segments[before..] {
            let (first, last) = (
                start.max(segment.start),
                end.min(segment.start + segment.length),
            );
            if first >= last {
                break;
            }
            let from = segment.from + (first - segment.start);
            self.share(&segment.string, from, last - first);
        }
        let own = start.max(other.own_start)..end.max(other.own_start);
        let bytes = (own.start - other.own_start) as usize..(own.end - other.own_start) as usize;
        self.own.push_str(&other.own[bytes]);
        shift
    }

    /// Appends all texts of another arena; returns the distance by which they moved.
    pub(crate) fn append(&mut self, other: Self) -> u32 {
        let by = index(self.len());
        if by == 0 {
            *self = other;
        } else {
            for (_, chunk) in other.chunks() {
                self.own.push_str(chunk);
            }
        }
        by
    }

    /// Prepares the texts for being shared, and releases the memory that was reserved for more.
    pub(super) fn complete(&mut self) {
        if self.segments.len() > MAX_SEGMENTS || self.wastes_memory() {
            let mut all = String::with_capacity(self.len());
            self.chunks().for_each(|(_, chunk)| all.push_str(chunk));
            *self = Self {
                segments: Vec::new(),
                own: all,
                own_start: 0,
            };
        }
        self.close();
    }

    /// Returns the length of all texts, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.own_start as usize + self.own.len()
    }

    /// Returns the memory in use, in bytes; shared memory counts in each arena.
    pub(crate) fn heap_bytes(&self) -> usize {
        let shared: usize = self.segments.iter().map(|it| it.length as usize).sum();
        shared + self.segments.capacity() * size_of::<Segment>() + self.own.capacity()
    }

    /// Appends a part of a string that is in memory.
    fn share(&mut self, string: &Arc<String>, from: u32, length: u32) {
        self.close();
        if let Some(last) = self.segments.last_mut()
            && Arc::ptr_eq(&last.string, string)
            && last.from + last.length == from
        {
            last.length += length;
        } else {
            self.segments.push(Segment {
                start: self.own_start,
                string: Arc::clone(string),
                from,
                length,
            });
        }
        self.own_start += length;
    }

    /// Makes the texts after the segments one of them.
    fn close(&mut self) {
        if self.own.is_empty() {
            return;
        }
        let mut own = std::mem::take(&mut self.own);
        own.shrink_to_fit();
        let length = index(own.len());
        self.segments.push(Segment {
            start: self.own_start,
            string: Arc::new(own),
            from: 0,
            length,
        });
        self.own_start += length;
    }

    /// Returns whether a quarter of the memory that the segments keep is not used here.
    fn wastes_memory(&self) -> bool {
        let strings = self.segments.iter();
        let strings = strings.map(|it| (Arc::as_ptr(&it.string), it.string.len()));
        let kept: usize = strings.collect::<HashMap<_, _>>().into_values().sum();
        kept / 4 * 3 > self.own_start as usize
    }

    /// Returns the string that has the text at an offset, and where its length is there.
    fn locate(&self, at: u32) -> (&str, usize) {
        if at >= self.own_start {
            return (&self.own, (at - self.own_start) as usize);
        }
        let segment = match &self.segments[..] {
            [only] => only,
            all => &all[all.partition_point(|it| it.start <= at) - 1],
        };
        (
            &segment.string,
            (at - segment.start + segment.from) as usize,
        )
    }
}

/// Returns the bounds of the text whose length is at an offset.
fn bounds(string: &str, at: usize) -> (usize, usize) {
    let bytes = string.as_bytes();
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

/// Shows the texts, however they are in memory.
impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
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
            self.next = self.bounds().end;
        }
        self.bounds()
    }

    /// Returns where the current text is, without its length.
    fn bounds(&self) -> Range<usize> {
        let (string, at) = self.arena.locate(index(self.at));
        let (start, end) = bounds(string, at);
        self.at + (start - at)..self.at + (end - at)
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
        for (number, &start) in stored.iter().enumerate() {
            let some = arena.between(start..arena.end());
            assert!(some.eq(arena.iter().skip(number)));
        }
        let mut cursor = arena.cursor();
        for (number, (text, &at)) in (0..).zip(texts.iter().zip(&stored)) {
            let place = cursor.seek(at.offset() as usize);
            assert_eq!(place.len(), text.len());
            assert_eq!(cursor.seek(place.end - 1), place);
            assert_eq!((cursor.number(), cursor.text()), (number, (at, &**text)));
        }
    }

    #[test]
    fn complete_texts_are_shared() {
        let texts: Vec<_> = (0..1000).map(|number: u32| number.to_string()).collect();
        let mut arena = Arena::default();
        let stored: Vec<_> = texts.iter().map(|text| arena.store(text)).collect();
        arena.complete();
        let mut expected: Vec<&str> = texts.iter().map(|text| &**text).collect();
        for at in (0..990).rev() {
            // In each version one text is replaced, and the one after it removed.
            let mut next = Arena::default();
            let place = |at: usize| arena.iter().nth(at).unwrap().0;
            let (before, after) = (place(at), place(at + 2));
            assert_eq!(next.copy(&arena, stored[0]..before), Shift(0));
            next.store("new");
            let shift = next.copy(&arena, after..arena.end());
            assert_eq!(next.get(after.shifted(shift)), expected[at + 2]);
            next.complete();
            expected.splice(at..at + 2, ["new"]);
            assert!(
                next.iter()
                    .map(|(_, text)| text)
                    .eq(expected.iter().copied())
            );
            assert!(next.iter().all(|(at, text)| next.get(at) == text));
            assert!(next.segments.len() <= MAX_SEGMENTS + 1);
            let mut cursor = next.cursor();
            for (number, (at, text)) in (0..).zip(next.iter()) {
                cursor.seek(at.offset() as usize);
                assert_eq!((cursor.number(), cursor.text()), (number, (at, text)));
            }
            arena = next;
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
