//! The text of a document with some entries changed.
//!
//! A new key goes where it belongs in the order of keys, on its own line or between commas, and
//! a new value into the place and the quotes of the old one; further items of a list go after the
//! last one. A comment on the line of a key that is removed stays, on its own line. Whether the
//! result means what was intended is proved by compiling it.
//!
//! Invariant: every byte of the text is kept, except for the values and keys that are named.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::key_edit::{KeyEdit, NewValue, rank};
use super::written_entry::{WrittenEntry, end_of_line, start_of_line};
use crate::edit::layout::{is_comment, line_break_at};
use crate::edit::obstacle::Obstacle;
use crate::edit::refusal::lone_carriage_return;
use crate::edit::replace::replace;
use crate::edit::scalar::item;
use crate::edit::variant_lines::pair;
use crate::mapping::{Outline, Rule};

/// A document of which some entries are changed.
pub struct EditedText<'o, 't> {
    outline: &'o Outline<'t>,
    /// The replaced parts of the text, with their replacements.
    parts: Vec<(Range<usize>, String)>,
}

impl<'o, 't> EditedText<'o, 't> {
    /// Begins to change a document.
    ///
    /// # Errors
    ///
    /// If it has lone carriage returns.
    pub fn of(outline: &'o Outline<'t>) -> Result<Self, Obstacle> {
        if let Some(position) = lone_carriage_return(outline.text) {
            let message = "a carriage return without a line feed keeps entries from being changed";
            return Err(Obstacle::of_entry(
                Rule::LayoutCarriageReturn,
                position,
                message,
            ));
        }
        Ok(Self {
            outline,
            parts: Vec::new(),
        })
    }

    /// Changes the entry with that number; call it once per entry, with each key at most once.
    /// Returns whether that changes the text.
    ///
    /// # Errors
    ///
    /// If it cannot be changed safely. Then the text is unchanged.
    pub fn edit(&mut self, entry: usize, edits: &[KeyEdit]) -> Result<bool, Obstacle> {
        let entry = WrittenEntry::of(self.outline.text, &self.outline.entries[entry])?;
        let change = EntryChange {
            text: self.outline.text,
            entry: &entry,
            edits,
        };
        let parts = change.parts()?;
        let is_changed = !parts.is_empty();
        self.parts.extend(parts);
        Ok(is_changed)
    }

    /// Returns the text.
    pub fn text(self) -> String {
        let (text, has_mark) = (self.outline.text, self.outline.has_mark);
        let mark = if has_mark { "\u{feff}" } else { "" };
        format!("{mark}{}", replace(text, self.into_parts()))
    }

    /// Returns what replaces which parts of the outlined text, in order.
    pub(super) fn into_parts(mut self) -> Vec<(Range<usize>, String)> {
        self.parts
            .sort_by_key(|(range, _)| (range.start, range.end));
        self.parts
    }
}

/// Edits of one entry.
struct EntryChange<'e, 'o, 't> {
    text: &'t str,
    entry: &'e WrittenEntry<'o, 't>,
    edits: &'e [KeyEdit],
}

impl EntryChange<'_, '_, '_> {
    fn parts(&self) -> Result<Vec<(Range<usize>, String)>, Obstacle> {
        let pairs = self.entry.pairs();
        let mut parts = Vec::new();
        let mut removed: Vec<Option<&KeyEdit>> = vec![None; pairs.len()];
        let mut added: Vec<&KeyEdit> = Vec::new();
        for edit in self.edits {
            let pair = pairs.iter().position(|pair| pair.key == edit.key);
            match (pair, &edit.value) {
                (None, None) => {}
                (None, Some(_)) => added.push(edit),
                (Some(pair), None) => removed[pair] = Some(edit),
                (Some(pair), Some(value)) => {
                    let values = &pairs[pair].values;
                    let texts: Vec<_> = values.iter().map(|value| value.text.clone()).collect();
                    if value.is(&texts) {
                        continue;
                    }
                    if let Some(part) = self.appended(pair, &texts, value) {
                        parts.push(part);
                        continue;
                    }
                    let form = values.first().map(|value| value.form);
                    let new = value.written(form, self.entry.is_flow());
                    if new.starts_with('\n') {
                        let range = self.entry.value_after_colon(pair)?;
                        let line_start = self.separator(range.start);
                        parts.push((range, new.replace('\n', &line_start)));
                        continue;
                    }
                    let (range, before) = self.entry.value(pair)?;
                    parts.push((range, format!("{before}{new}")));
                }
            }
        }
        added.sort_by_key(|edit| rank(edit.key));
        let kept: Vec<_> = (0..pairs.len())
            .filter(|pair| removed[*pair].is_none())
            .collect();
        let Some(&first) = kept.first() else {
            return self.replaced(&removed, &added);
        };
        parts.extend(self.removals(&removed)?);
        let mut after: BTreeMap<Option<usize>, Vec<&KeyEdit>> = BTreeMap::new();
        for edit in added {
            let is_before = |pair: &&usize| rank(&pairs[**pair].key) < rank(edit.key);
            let anchor = kept.iter().rev().find(is_before).copied();
            after.entry(anchor).or_default().push(edit);
        }
        parts.extend(after.into_iter().map(|(anchor, edits)| match anchor {
            Some(pair) => self.after(pair, &edits),
            None => self.before(first, &edits),
        }));
        Ok(parts)
    }

    /// Adds items to a list, if a new value only does that.
    fn appended(
        &self,
        pair: usize,
        before: &[Cow<'_, str>],
        value: &NewValue,
    ) -> Option<(Range<usize>, String)> {
        let NewValue::Texts(texts) = value else {
            return None;
        };
        let (kept, added) = texts.split_at_checked(before.len())?;
        if before != kept {
            return None;
        }
        let (at, separator) = self.entry.after_items(pair)?;
        // Written for brackets, where more characters are special, which also fits a block.
        let added = added
            .iter()
            .map(|text| format!("{separator}{}", item(text)));
        Some((at..at, added.collect()))
    }

    /// Removes keys, but not all.
    fn removals(
        &self,
        removed: &[Option<&KeyEdit>],
    ) -> Result<Vec<(Range<usize>, String)>, Obstacle> {
        let mut parts = Vec::new();
        let mut pair = 0;
        while pair < removed.len() {
            let run = removed[pair..].iter().take_while(|it| it.is_some()).count();
            let end = pair + run;
            for (pair, edit) in (pair..end).zip(removed[pair..end].iter().flatten()) {
                self.refuse_removal(pair, edit)?;
            }
            if run > 0 && self.entry.is_flow() {
                let (comma, keys) = self.between_commas(pair..end, removed)?;
                let ranges = comma.into_iter().chain([keys]);
                parts.extend(ranges.map(|range| (range, String::new())));
            } else if run > 0 && pair == 0 {
                parts.push(self.comments_above(&removed[..end]));
                // Everything up to the next key.
                parts.push((self.entry.start(0)..self.entry.start(end), String::new()));
            } else {
                let lines = (pair..end).zip(removed[pair..end].iter().flatten());
                parts.extend(lines.map(|(pair, edit)| (self.lines(pair, edit), String::new())));
            }
            pair = end + 1;
        }
        Ok(parts)
    }

    /// Returns the removed part of keys in braces, with the following comma, or, for the last ones, the
    /// preceding comma; and before it that comma, if it is apart.
    fn between_commas(
        &self,
        keys: Range<usize>,
        removed: &[Option<&KeyEdit>],
    ) -> Result<(Option<Range<usize>>, Range<usize>), Obstacle> {
        let (entry, first, end) = (self.entry, keys.start, keys.end);
        let (is_last, last) = (end == removed.len(), end - 1);
        let (start, before) = (entry.start(first), first.checked_sub(1));
        if !removed[keys].iter().flatten().all(|it| it.erases_comments) {
            let range = match before.filter(|_| is_last) {
                Some(before) => {
                    entry.refuse_comments_between(before..last)?;
                    entry.end(before)..entry.end(last)
                }
                None => {
                    entry.refuse_comments_between(first..end)?;
                    start..entry.start(end)
                }
            };
            return Ok((None, range));
        }
        let Some(before) = before.filter(|_| is_last) else {
            // A comment on a line of its own above the next key is of that.
            let erased = entry.end_of_comment(entry.end_of_comma(last));
            let end = match self.text[erased..entry.start(end)].contains('#') {
                true => erased,
                false => entry.start(end),
            };
            return Ok((None, start..end));
        };
        let erased = entry.end_of_comment(entry.end(last));
        Ok(match entry.has_comments_between(before..first) {
            // The comment is of a key that stays.
            true => {
                let comma = entry.end_of_comma(before);
                (Some(comma - 1..comma), start..erased)
            }
            false => (None, entry.end(before)..erased),
        })
    }

    /// Refuses to remove a key if comments within its value would be lost that are not to be erased.
    fn refuse_removal(&self, pair: usize, edit: &KeyEdit) -> Result<(), Obstacle> {
        match edit.erases_comments {
            true => self.entry.refuse_block_texts(pair),
            false => self.entry.refuse_comments(pair),
        }
    }

    /// Returns the removed part of a key's lines below the first one, in block form: all of them,
    /// unless a comment stays there.
    fn lines(&self, pair: usize, edit: &KeyEdit) -> Range<usize> {
        let (start, end) = (self.entry.start(pair), self.entry.end(pair));
        let end_of_line = end_of_line(self.text, end);
        let comment = self.text[end..end_of_line].find('#');
        if let Some(comment) = comment.filter(|_| !edit.erases_comments) {
            return start..end + comment;
        }
        let end_of_line = match edit.erases_comments {
            true => self.entry.end_with_comments(pair),
            false => end_of_line,
        };
        let rest = &self.text[end_of_line..];
        let line_break = rest.find('\n').filter(|found| *found <= 1);
        start_of_line(self.text, start)..end_of_line + line_break.map_or(0, |found| found + 1)
    }

    /// Copies the comments among the first keys, which are removed, to lines above the entry.
    fn comments_above(&self, removed: &[Option<&KeyEdit>]) -> (Range<usize>, String) {
        let start = self.entry.start(0);
        let at = start_of_line(self.text, start);
        let line = &self.text[at..start];
        let (margin, _) = line.split_at(line.len() - line.trim_start_matches(' ').len());
        let mut comments = String::new();
        for (pair, edit) in removed.iter().enumerate() {
            let is_erased = edit.is_some_and(|edit| edit.erases_comments);
            let end = match is_erased {
                true => self.entry.end_with_comments(pair),
                false => self.entry.end(pair),
            };
            let between = &self.text[end..self.entry.start(pair + 1)];
            for line in between.split_inclusive('\n').skip(usize::from(is_erased)) {
                if is_comment(line) {
                    comments.extend([margin, line.trim_start_matches([' ', '\t'])]);
                }
            }
        }
        (at..at, comments)
    }

    /// Replaces all keys by others.
    fn replaced(
        &self,
        removed: &[Option<&KeyEdit>],
        added: &[&KeyEdit],
    ) -> Result<Vec<(Range<usize>, String)>, Obstacle> {
        if added.is_empty() {
            return Err(self
                .entry
                .obstacle(Rule::LayoutListApart, "an entry needs a key"));
        }
        let last = removed.len() - 1;
        for (pair, edit) in removed.iter().flatten().enumerate() {
            self.refuse_removal(pair, edit)?;
        }
        let mut end = self.entry.end(last);
        let erases = removed.iter().flatten().all(|edit| edit.erases_comments);
        if self.entry.is_flow() {
            match erases {
                true => end = self.entry.end_of_comment(end),
                false => self.entry.refuse_comments_between(0..last)?,
            }
        } else if removed[last].is_some_and(|edit| edit.erases_comments) {
            end = self.entry.end_with_comments(last);
        }
        let start = self.entry.start(0);
        let mut parts = vec![(start..end, self.joined(added, start))];
        if !self.entry.is_flow() {
            parts.push(self.comments_above(&removed[..last]));
        }
        Ok(parts)
    }

    /// Adds keys before the first kept one.
    fn before(&self, pair: usize, added: &[&KeyEdit]) -> (Range<usize>, String) {
        let at = self.entry.start(pair);
        (at..at, self.joined(added, at) + &self.separator(at))
    }

    /// Adds keys after one.
    fn after(&self, pair: usize, added: &[&KeyEdit]) -> (Range<usize>, String) {
        let end = self.entry.end(pair);
        let at = match self.entry.is_flow() {
            true => end,
            false => end_of_line(self.text, end),
        };
        (at..at, self.separator(end) + &self.joined(added, end))
    }

    fn joined(&self, added: &[&KeyEdit], near: usize) -> String {
        let separator = self.separator(near);
        let pairs = added.iter().filter_map(|edit| {
            let value = edit.value.as_ref()?;
            let written = value.written(None, self.entry.is_flow());
            Some(pair(edit.key, &written, &separator))
        });
        pairs.collect::<Vec<_>>().join(&separator)
    }

    /// Returns what separates two keys near an offset.
    fn separator(&self, near: usize) -> String {
        match self.entry.is_flow() {
            true => ", ".to_owned(),
            false => {
                let margin = self.entry.margin();
                format!("{}{:margin$}", line_break_at(self.text, near), "")
            }
        }
    }
}
