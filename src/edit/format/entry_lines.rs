//! The lines of entries that follow each other, which are sorted by code within their sections.
//!
//! The lines of an entry, and sections, are those of a `Layout`. What is above an entry and its comments
//! belongs to the place and not to the entry: it stays where it is.

use std::ops::Range;

use super::spellings::spellings;
use crate::edit::layout::{body_len, comments_len, indent, is_blank};
use crate::edit::replace::replace;
use crate::mapping::{Code, EntryOutline};

/// Some entries of a list, in the order in which they are written.
#[derive(Debug, Default)]
pub(super) struct EntryLines {
    entries: Vec<LinesOfEntry>,
    /// The end of the last one.
    end: usize,
}

/// The lines of an entry in a text.
#[derive(Debug)]
struct LinesOfEntry {
    code: Code,
    /// Where its comments begin, and where its last line ends. A text has less than 4 GiB.
    range: Range<u32>,
    begins_section: bool,
    /// Its lines, if a value is not in canonical form.
    rewritten: Option<Box<str>>,
}

impl EntryLines {
    /// Adds outlined entries of a text, which is outlined from an offset on.
    pub(super) fn add(&mut self, text: &str, from: usize, outlined: Vec<EntryOutline<'_>>) {
        self.entries.reserve(outlined.len());
        for entry in outlined {
            let start = from + entry.line_start;
            let lines = &text[start..];
            let above = &text[self.end..start];
            let comments = start - comments_len(above, indent(lines));
            let is_first = self.entries.is_empty();
            let begins_section = is_first || !is_blank(&text[self.end..comments]);
            self.end = start + body_len(lines, &entry.pairs);
            let spellings = spellings(&entry.pairs);
            let rewritten = (!spellings.is_empty()).then(|| {
                let body = replace(&text[start..self.end], spellings);
                [&text[comments..start], &body].concat().into_boxed_str()
            });
            self.entries.push(LinesOfEntry {
                code: entry.code,
                range: offset(comments)..offset(self.end),
                begins_section,
                rewritten,
            });
        }
    }

    /// Returns whether any entry has a value that is not in canonical form.
    pub(super) fn are_rewritten(&self) -> bool {
        self.entries.iter().any(|entry| entry.rewritten.is_some())
    }

    /// Returns whether the entries of each section are sorted, section by section.
    pub(super) fn are_sorted(&self) -> impl DoubleEndedIterator<Item = bool> {
        self.sections()
            .map(|section| section.is_sorted_by(|a, b| a.code <= b.code))
    }

    /// Returns the codes of the first and the last entry, if there is any.
    pub(super) fn ends(&self) -> Option<[&Code; 2]> {
        let (first, last) = (self.entries.first()?, self.entries.last()?);
        Some([&first.code, &last.code])
    }

    /// Returns where the last entry ends.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    fn sections(&self) -> impl DoubleEndedIterator<Item = &[LinesOfEntry]> {
        self.entries.chunk_by(|_, next| !next.begins_section)
    }

    /// Passes the text up to the end of the last entry in canonical form, part by part; `line_break` ends
    /// the last line if it has to be moved and has none. Entries with the same code keep their order.
    ///
    /// # Errors
    ///
    /// Those of `put`.
    pub(super) fn write<E>(
        &self,
        text: &str,
        line_break: &str,
        mut put: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let ends_open = !text[..self.end].ends_with('\n');
        let last_place = self.entries.last();
        let mut end = 0;
        for section in self.sections() {
            let mut sorted: Vec<_> = section.iter().collect();
            sorted.sort_by(|a, b| a.code.cmp(&b.code));
            for (place, entry) in section.iter().zip(sorted) {
                put(&text[end..place.range.start as usize])?;
                end = place.range.end as usize;
                let lines = match &entry.rewritten {
                    Some(lines) => lines,
                    None => &text[entry.range.start as usize..entry.range.end as usize],
                };
                let is_last = |it| last_place.is_some_and(|last| std::ptr::eq(last, it));
                match (is_last(entry), is_last(place)) {
                    (true, false) if ends_open => {
                        put(lines)?;
                        put(line_break)?;
                    }
                    (false, true) if ends_open => put(lines.trim_end_matches(['\r', '\n']))?,
                    _ => put(lines)?,
                }
            }
        }
        Ok(())
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("a table has less than 4 GiB of text")
}
