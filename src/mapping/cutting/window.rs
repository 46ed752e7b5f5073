//! Windows: the entries of a list in which two versions of a file differ, and one next to them.
//!
//! The text before and after a window is the same in both versions, byte for byte. Like cutting,
//! this only looks for lines that can begin an entry.

use std::ops::Range;

use memchr::{memchr, memrchr};

use super::cut::{CutList, LineKind, kind};

/// The number of bytes that are compared at once.
const BLOCK: usize = 4096;

/// The place of the list of entries in a file, which does not depend on the content of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPlace {
    /// Where it begins, in bytes.
    start: usize,
    /// The number of bytes after it.
    after: usize,
    /// The column of the dashes, from 0.
    indent: usize,
}

/// The window of a file in two versions of it, in bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

impl ListPlace {
    /// Finds the list of a file; `None` if it has none in the usual form.
    pub fn of(file: &[u8]) -> Option<Self> {
        let list = CutList::of(file)?.0;
        let (first, last) = (list.pieces.first()?, list.pieces.last()?);
        Some(Self {
            start: first.start,
            after: file.len() - (last.start + last.length),
            indent: list.indent,
        })
    }

    /// Returns the text of a file with only a part of its list.
    pub(crate) fn with_part(&self, file: &[u8], part: Range<usize>) -> Vec<u8> {
        let after = &file[file.len() - self.after..];
        [&file[..self.start], &file[part], after].concat()
    }

    /// Returns the window in which two versions of a file differ, if they differ only in the list.
    pub(crate) fn window(&self, old: &[u8], new: &[u8]) -> Option<Window> {
        let before = common_start(old, new);
        let shorter = old.len().min(new.len());
        let after = common_end(old, new).min(shorter - before);
        if before < self.start || after < self.after {
            return None;
        }
        let first = self.last_entry(old, before);
        let start = first.unwrap_or(self.start);
        let list_end = old.len() - self.after;
        let mut end = self.next_entry(old, old.len() - after, list_end);
        if first.is_none() {
            // The versions have an entry in common, unless the list has none.
            end = self.next_entry(old, end, list_end);
        }
        let window = Window {
            old: start..end,
            new: start..new.len() - (old.len() - end),
        };
        let mut lines = new[window.new.clone()].split(|byte| *byte == b'\n');
        let is_inside = lines.all(|line| !matches!(kind(line, self.indent), LineKind::After));
        is_inside.then_some(window)
    }

    /// Returns where the last entry begins whose first line ends before an offset.
    fn last_entry(&self, text: &[u8], offset: usize) -> Option<usize> {
        let mut end = memrchr(b'\n', &text[self.start..offset])? + self.start;
        loop {
            let start = memrchr(b'\n', &text[self.start..end]).map(|at| at + 1 + self.start);
            let start = start.unwrap_or(self.start);
            if matches!(kind(&text[start..end], self.indent), LineKind::Entry) {
                return Some(start);
            }
            end = start.checked_sub(1).filter(|end| *end > self.start)?;
        }
    }

    /// Returns where the next entry begins whose first line begins after an offset, or else the end.
    fn next_entry(&self, text: &[u8], offset: usize, end: usize) -> usize {
        let mut at = offset;
        while let Some(line_break) = memchr(b'\n', &text[at.min(end)..end]) {
            at = at + line_break + 1;
            let rest = &text[at..end];
            let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
            if matches!(kind(line, self.indent), LineKind::Entry) {
                return at;
            }
        }
        end
    }
}

fn common_start(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let rest = one[same..].iter().zip(&other[same..]);
    same + rest.take_while(|(one, other)| one == other).count()
}

fn common_end(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.rchunks_exact(BLOCK).zip(other.rchunks_exact(BLOCK));
    let same = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let (one, other) = (&one[..one.len() - same], &other[..other.len() - same]);
    let rest = one.iter().rev().zip(other.iter().rev());
    same + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "base_url: https://e.org/\nmapping:\n";
    const TAIL: &str = "tests:\n- from: /a\n  to: gone\n";

    /// Returns the windows of two lists.
    fn windows(old: &str, new: &str, tail: &str) -> Option<[String; 2]> {
        let [old, new] = [old, new].map(|list| format!("{HEAD}{list}{tail}"));
        let place = ListPlace::of(old.as_bytes())?;
        let window = place.window(old.as_bytes(), new.as_bytes())?;
        let with = |text: &str, part: &Range<usize>| place.with_part(text.as_bytes(), part.clone());
        for (text, part) in [(&old, &window.old), (&new, &window.new)] {
            let expected = format!("{HEAD}{}{tail}", &text[part.clone()]);
            assert_eq!(with(text, part), expected.as_bytes());
        }
        Some([old[window.old].to_owned(), new[window.new].to_owned()])
    }

    fn entry(name: &str) -> String {
        format!("- url: https://e.org/{name}\n  title: {name}\n")
    }

    #[test]
    fn a_window_has_the_entries_around_a_change() {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(entry);
        for tail in ["", TAIL] {
            for (old, new, expected) in [
                // Inserted, in each place.
                (
                    [&a, &b, &d].map(String::as_str).concat(),
                    format!("{a}{b}{c}{d}"),
                    [b.clone(), format!("{b}{c}")],
                ),
                (
                    format!("{b}{c}"),
                    format!("{a}{b}{c}"),
                    [b.clone(), format!("{a}{b}")],
                ),
                (
                    format!("{a}{b}"),
                    format!("{a}{b}{c}"),
                    [b.clone(), format!("{b}{c}")],
                ),
                // Changed.
                (
                    format!("{a}{b}{c}"),
                    format!("{a}{d}{c}"),
                    [format!("{a}{b}"), format!("{a}{d}")],
                ),
            ] {
                let [old, new] = windows(&old, &new, tail).unwrap();
                // A window may include more entries, but the same ones in both versions.
                assert!(
                    old.contains(&expected[0]) && new.contains(&expected[1]),
                    "{old}\n{new}"
                );
                assert!(old.len() < expected[0].len() + 80, "{old}");
            }
        }
    }

    #[test]
    fn there_is_no_window_where_more_differs() {
        let a = entry("a");
        assert_eq!(windows(&a, &format!("{a}x: y\n"), ""), None);
        assert_eq!(windows(&a, &format!("{a}x: y\n{a}"), TAIL), None);
        let old = format!("{HEAD}{a}{TAIL}");
        let place = ListPlace::of(old.as_bytes()).unwrap();
        for new in [
            old.replace("e.org/\n", "f.org/\n"),
            old.replace("/a\n  to", "/b\n  to"),
        ] {
            assert_eq!(place.window(old.as_bytes(), new.as_bytes()), None, "{new}");
        }
    }
}
