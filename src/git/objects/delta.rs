//! Finding the delta between two texts: copies from the earlier one, and new text between them.
//!
//! Designed for changed lines in a text: after a difference, the next lines of the old text are
//! searched for a little further on in the new one. Moved parts are not found. Pure.

use memchr::{memchr, memmem};

use crate::git::packs::Delta;

/// How much of the old text must occur in the new one to continue from there.
const ANCHOR: usize = 48;

/// How far after a difference an anchor is searched for in the new text.
const WINDOW: usize = 64 << 10;

/// The number of lines of the old text that are tried as anchors after a difference.
const ANCHORS: usize = 16;

/// The number of anchors that are tried for one text, so that no text takes long.
const MAX_TRIES: usize = 1 << 16;

/// How much is compared at once.
const BLOCK: usize = 4 << 10;

/// Returns a text as a delta of an earlier one, unless that takes more than half of its length.
pub(super) fn delta(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    u32::try_from(old.len()).ok()?;
    let limit = new.len() / 2;
    let mut tries = MAX_TRIES;
    let mut delta = Delta::between(old.len() as u64, new.len() as u64);
    let (mut at_old, mut at) = (0, 0);
    loop {
        let same = common_start(&old[at_old..], &new[at..]);
        delta.copy(at_old as u64, same as u64);
        (at_old, at) = (at_old + same, at + same);
        let (old_rest, rest) = (&old[at_old..], &new[at..]);
        if rest.is_empty() {
            break;
        }
        let next = match next_common(old_rest, rest, &mut tries) {
            Some(next) => next,
            None => {
                let end = common_end(old_rest, rest);
                (old_rest.len() - end, rest.len() - end)
            }
        };
        delta.insert(&rest[..next.1]);
        if delta.inserted() > limit {
            return None;
        }
        (at_old, at) = (at_old + next.0, at + next.1);
    }
    let bytes = delta.to_bytes();
    (bytes.len() <= limit).then_some(bytes)
}

/// Returns where both texts are equal again after a difference, if that is near.
fn next_common(old: &[u8], new: &[u8], tries: &mut usize) -> Option<(usize, usize)> {
    let window = &new[..new.len().min(WINDOW)];
    let mut from = 0;
    for _ in 0..ANCHORS {
        *tries = tries.checked_sub(1)?;
        let anchor = old.get(from..from + ANCHOR)?;
        if let Some(found) = memmem::find(window, anchor) {
            return Some((from, found));
        }
        from += memchr(b'\n', &old[from..])? + 1;
    }
    None
}

fn common_start(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks(BLOCK).zip(other.chunks(BLOCK));
    let equal = BLOCK * blocks.take_while(|(one, other)| one == other).count();
    // The last block may be shorter.
    let at = equal.min(one.len()).min(other.len());
    let bytes = one[at..].iter().zip(&other[at..]);
    at + bytes.take_while(|(one, other)| one == other).count()
}

fn common_end(one: &[u8], other: &[u8]) -> usize {
    let bytes = one.iter().rev().zip(other.iter().rev());
    bytes.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    /// Reads a delta as Git does.
    fn applied(old: &[u8], delta: &[u8]) -> Vec<u8> {
        let mut bytes = delta.iter().copied();
        let mut length = || {
            let (mut length, mut shift) = (0, 0);
            loop {
                let byte = usize::from(bytes.next().unwrap());
                length |= (byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return length;
                }
            }
        };
        let lengths = (length(), length());
        let mut new = Vec::new();
        while let Some(instruction) = bytes.next() {
            if instruction < 0x80 {
                assert_ne!(instruction, 0);
                new.extend(bytes.by_ref().take(usize::from(instruction)));
                continue;
            }
            let mut number = |bits: std::ops::Range<usize>| {
                bits.enumerate()
                    .fold(0, |number, (byte, bit)| match instruction >> bit & 1 {
                        0 => number,
                        _ => number | usize::from(bytes.next().unwrap()) << (8 * byte),
                    })
            };
            let (offset, size) = (number(0..4), number(4..7));
            assert_ne!(size, 0, "means 65536");
            new.extend_from_slice(&old[offset..offset + size]);
        }
        assert_eq!(lengths, (old.len(), new.len()));
        new
    }

    fn table(entries: usize) -> String {
        let mut text = String::new();
        for number in 0..entries {
            writeln!(
                text,
                "- url: https://example.org/{number}\n  short-code: {number}"
            )
            .unwrap();
        }
        text
    }

    #[test]
    fn changed_lines_take_little() {
        let old = table(10_000);
        let new = old
            .replace("org/77\n", "org/77\n  title: seventy-seven\n")
            .replace(
                "- url: https://example.org/4444\n",
                "- url: https://example.net/\n",
            )
            .replace("- url: https://example.org/9000\n  short-code: 9000\n", "")
            + "- url: https://example.com/\n";
        let delta = delta(old.as_bytes(), new.as_bytes()).unwrap();
        assert!(delta.len() < 300, "{}", delta.len());
        assert_eq!(applied(old.as_bytes(), &delta), new.as_bytes());
    }

    #[test]
    fn another_text_is_no_delta() {
        let text = table(100);
        assert_eq!(delta(b"", text.as_bytes()), None);
        assert_eq!(delta(&vec![b'x'; 10_000], text.as_bytes()), None);
        assert_eq!(delta(text.as_bytes(), b""), None);
    }

    #[test]
    fn long_copies_are_split() {
        let old = vec![b'x'; 2 * 0xff_ff_ff + 5];
        let new = [&old[..], b"y"].concat();
        let delta = delta(&old, &new).unwrap();
        assert!(applied(&old, &delta) == new);
    }

    proptest! {
        #[test]
        fn is_applied_to_the_same_text(
            old in prop::collection::vec("[ab]{0,60}", 0..60),
            changes in prop::collection::vec((0_usize..60, 0_usize..3, "[ab]{0,60}"), 0..6),
        ) {
            let mut new = old.clone();
            for (at, removed, line) in changes {
                let at = at.min(new.len());
                let end = (at + removed).min(new.len());
                new.splice(at..end, [line]);
            }
            let (old, new) = (old.join("\n"), new.join("\n"));
            if let Some(delta) = delta(old.as_bytes(), new.as_bytes()) {
                prop_assert_eq!(applied(old.as_bytes(), &delta), new.as_bytes());
            }
        }
    }
}
