//! Lists of entries in block form: where a new entry goes, and how it is written there.
//!
//! Sections are those of a layout, but the entries need not be movable: only the neighbours of a
//! new entry matter.

use super::NewEntry;
use super::layout::{comments_len, deep_comments_len, indent, is_blank, line, line_break_at};
use super::obstacle::Obstacle;
use super::style::{Style, fitted};
use crate::mapping::{Code, EntryOutline, Outline, Rule, ScalarForm};

/// A list of at least one entry in block form.
pub(super) struct List<'o, 't> {
    outline: &'o Outline<'t>,
    /// The first entry of the last section, as far as it is outlined.
    first: usize,
    /// Whether the section begins with that entry, and not before what is outlined.
    begins_here: bool,
    /// Whether a blank line precedes each entry of that section except the first.
    is_spaced: bool,
    /// Whether the entries of the section are sorted by code.
    is_sorted: bool,
}

/// What decides where a new entry goes, and how it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastSection {
    /// The number of its first entry, if that is outlined.
    pub(super) first: Option<usize>,
    /// Whether a blank line precedes each of its entries except the first.
    pub(super) is_spaced: bool,
    /// Whether its entries are sorted by code.
    pub(super) is_sorted: bool,
}

impl<'o, 't> List<'o, 't> {
    pub(super) fn of(outline: &'o Outline<'t>) -> Self {
        let mut list = Self {
            outline,
            first: 0,
            begins_here: true,
            is_spaced: false,
            is_sorted: false,
        };
        for number in 1..outline.entries.len() {
            let above = list.above(number);
            let Some(dash) = list.style(number).map(|style| style.margin.len()) else {
                continue;
            };
            let (above, _) = above.split_at(above.len() - comments_len(above, dash));
            if !is_blank(above) {
                list.first = number;
                list.is_spaced = false;
            } else if number == list.first + 1 {
                list.is_spaced = !above.is_empty();
            } else {
                list.is_spaced &= !above.is_empty();
            }
        }
        list.is_sorted = list.section().is_sorted_by_key(|entry| &entry.code);
        list
    }

    /// Returns a part of a list, of whose last section more is known than is outlined.
    pub(super) fn part_of(outline: &'o Outline<'t>, section: &LastSection) -> Self {
        Self {
            outline,
            first: section.first.unwrap_or(0),
            begins_here: section.first.is_some(),
            is_spaced: section.is_spaced,
            is_sorted: section.is_sorted,
        }
    }

    /// Returns the last section.
    pub(super) fn last_section(&self) -> LastSection {
        LastSection {
            first: Some(self.first),
            is_spaced: self.is_spaced,
            is_sorted: self.is_sorted,
        }
    }

    /// Returns the entries of the last section.
    pub(super) fn section(&self) -> &'o [EntryOutline<'t>] {
        &self.outline.entries[self.first..]
    }

    /// Returns the lines of new entries with their offsets in the text, in order.
    pub(super) fn insert(&self, entries: &[&NewEntry]) -> Result<Vec<(usize, String)>, Obstacle> {
        let scheme = self.outline.scheme;
        let (section, is_sorted) = (self.section(), self.is_sorted);
        let mut new: Vec<(_, &NewEntry)> = (entries.iter())
            .map(|&entry| (entry.own_code(scheme), entry))
            .collect();
        if is_sorted {
            new.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        let place = |code: &Code| match is_sorted {
            true => section.partition_point(|entry| entry.code <= *code),
            false => section.len(),
        };
        let placed: Vec<_> = new
            .into_iter()
            .map(|(code, entry)| (place(&code), entry))
            .collect();
        let together = placed.chunk_by(|(one, _), (other, _)| one == other);
        let inserted = together.map(|together| {
            let number = self.first + together[0].0;
            self.put(number, together.iter().map(|(_, entry)| *entry))
        });
        inserted.collect()
    }

    /// Inserts entries after all those of the section that sort before the entry with the given
    /// number.
    fn put<'e>(
        &self,
        number: usize,
        entries: impl Iterator<Item = &'e NewEntry>,
    ) -> Result<(usize, String), Obstacle> {
        let text = self.outline.text;
        let is_first = self.begins_here && number == self.first;
        let neighbour = if is_first { number } else { number - 1 };
        let entry = &self.outline.entries[neighbour];
        let breaks = line_break_at(text, entry.line_start);
        let obstacle = |rule, message| Obstacle::new(rule, entry.position, message);
        let Some(mut style) = self.style(neighbour) else {
            let message = "no entry can be inserted next to one that begins below its dash";
            return Err(obstacle(Rule::LayoutDashAlone, message));
        };
        let at = if is_first {
            entry.line_start - comments_len(self.above(number), style.margin.len())
        } else {
            self.end_of(neighbour)
        };
        if !is_first && ends_in_block_text(entry) {
            // Line breaks after such a text may belong to it.
            style.is_spaced = false;
            if !text[..at].ends_with('\n') {
                let message =
                    "no entry can be inserted after a text that ends without a line break";
                return Err(obstacle(Rule::LayoutBlockText, message));
            }
        }
        let lines: String = entries
            .map(|entry| {
                let lines = style.write(entry, breaks);
                match (style.is_spaced, is_first) {
                    (true, true) => lines + breaks,
                    (true, false) => format!("{breaks}{lines}"),
                    (false, _) => lines,
                }
            })
            .collect();
        Ok((at, fitted(text, at, lines, breaks)))
    }

    /// Returns the text between an entry and the end of the previous one.
    fn above(&self, number: usize) -> &'t str {
        let start = self.outline.entries[number].line_start;
        let before = number.checked_sub(1);
        let end = before.map_or(0, |before| self.end_of(before).min(start));
        &self.outline.text[end..start]
    }

    /// Returns the style of an entry; `None` if it begins below its dash.
    fn style(&self, number: usize) -> Option<Style<'t>> {
        let entry = &self.outline.entries[number];
        let lines = &self.outline.text[entry.line_start..];
        let column = entry.position.column as usize - 1;
        let (margin, gap) = lines.get(..column)?.split_once('-')?;
        let is_blank = |text: &str| text.bytes().all(|byte| byte == b' ');
        (is_blank(margin) && is_blank(gap)).then_some(Style {
            margin,
            gap,
            is_spaced: self.is_spaced,
        })
    }

    /// Returns the end of the lines of an entry, including the comments below that are indented
    /// deeper than its dash.
    fn end_of(&self, number: usize) -> usize {
        let entry = &self.outline.entries[number];
        let style = self.style(number);
        // Wherever the dash is, it is left of the first key.
        let column = entry.position.column as usize;
        let dash = style.map_or(column.saturating_sub(2), |style| style.margin.len());
        let is_text = ends_in_block_text(entry);
        let own = match entry.pairs.last() {
            Some(pair) if is_text => pair.span.start,
            _ => entry.end,
        };
        let text = &self.outline.text[entry.line_start..];
        let mut end = own + line(&text[own..]).len();
        if is_text {
            // The text continues on deeper indented and blank lines.
            let lines = text[end..].split_inclusive('\n');
            let own = lines.take_while(|line| is_blank(line) || indent(line) > dash);
            end += own.map(str::len).sum::<usize>();
        }
        end += deep_comments_len(&text[end..], dash);
        entry.line_start + end
    }
}

fn ends_in_block_text(entry: &EntryOutline<'_>) -> bool {
    let last = entry.pairs.last().and_then(|pair| pair.values.last());
    last.is_some_and(|value| value.form == ScalarForm::Block)
}
