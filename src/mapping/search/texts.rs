//! Finding the texts of an arena that contain something, much faster than one by one.
//!
//! The texts are searched as if they were one, in windows that fit into the first cache of a
//! processor: only then is the text of a match determined.

use memchr::memmem::Finder;

use crate::mapping::packed::Arena;

/// How many bytes a window has, apart from the beginning of the next.
const WINDOW: usize = 16 << 10;

/// Calls `found` with the number of each text that has a needle, and that text, ignoring the case
/// of its ASCII letters; the needle's own are in lower case. Returns `None` if `goes_on` returned
/// false before the end.
pub(super) fn with_needle<'a>(
    arena: &'a Arena,
    needle: &Finder<'_>,
    goes_on: &mut impl FnMut() -> bool,
    found: impl FnMut(u32, &'a str),
) -> Option<()> {
    let length = needle.needle().len();
    find(arena, length, |window| needle.find(window), goes_on, found)
}

/// Does the same with each text that is not ASCII.
pub(super) fn not_ascii<'a>(
    arena: &'a Arena,
    goes_on: &mut impl FnMut() -> bool,
    found: impl FnMut(u32, &'a str),
) -> Option<()> {
    let position = |window: &[u8]| match window.is_ascii() {
        true => None,
        false => window.iter().position(|byte| !byte.is_ascii()),
    };
    find(arena, 1, position, goes_on, found)
}

/// Finds the texts in which `position` finds something of some length.
fn find<'a>(
    arena: &'a Arena,
    length: usize,
    position: impl Fn(&[u8]) -> Option<usize>,
    goes_on: &mut impl FnMut() -> bool,
    mut found: impl FnMut(u32, &'a str),
) -> Option<()> {
    let mut cursor = arena.cursor();
    let mut window = Vec::new();
    // The start of the part that was not searched yet.
    let mut next = 0;
    let windows = arena.chunks().flat_map(|(offset, chunk)| {
        let starts = (0..chunk.len()).step_by(WINDOW);
        starts.map(move |start| (offset as usize + start, &chunk.as_bytes()[start..]))
    });
    for (start, rest) in windows {
        if !goes_on() {
            return None;
        }
        window.clear();
        window.extend_from_slice(&rest[..rest.len().min(WINDOW + length)]);
        window.make_ascii_lowercase();
        while next < start + window.len() {
            let from = next.max(start);
            let Some(at) = position(&window[from - start..]) else {
                next = from;
                break;
            };
            let at = from + at;
            let text = cursor.seek(at);
            if at < text.start {
                // The match begins in the length of the text.
                next = text.start;
                continue;
            }
            next = text.end;
            if at + length <= text.end {
                found(cursor.number(), cursor.text().1);
            }
        }
    }
    Some(())
}
