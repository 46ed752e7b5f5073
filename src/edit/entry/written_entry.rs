//! An entry in a text: the positions of its keys, their values and their lines.

use std::ops::Range;

use crate::edit::layout::{indent, is_blank, is_comment, line, line_break_at};
use crate::edit::obstacle::Obstacle;
use crate::mapping::{EntryOutline, Pair, Rule, ScalarForm};

/// An entry whose keys can be changed. All offsets are in the text of its document.
pub(super) struct WrittenEntry<'o, 't> {
    text: &'t str,
    entry: &'o EntryOutline<'t>,
}

impl<'o, 't> WrittenEntry<'o, 't> {
    /// Takes an entry of a text.
    ///
    /// # Errors
    ///
    /// If it is not certain where a key could be added: among keys after `?`, or in an entry in a
    /// list in brackets without its own braces.
    pub(super) fn of(text: &'t str, entry: &'o EntryOutline<'t>) -> Result<Self, Obstacle> {
        let written = Self { text, entry };
        let is_known = match entry.is_flow {
            true => text[..written.start(0)].trim_end().ends_with('{'),
            false => written.has_plain_margins(),
        };
        match is_known {
            true => Ok(written),
            false => Err(written.obstacle(
                Rule::LayoutFlowStyle,
                "an entry cannot be changed unless its keys are plainly in a block or in braces",
            )),
        }
    }

    /// Returns whether only spaces, and the dash before the first key, precede each key on its line.
    fn has_plain_margins(&self) -> bool {
        (0..self.pairs().len()).all(|pair| {
            let start = self.start(pair);
            let before = &self.text[start_of_line(self.text, start)..start];
            let before = before.trim_start_matches(' ');
            let after_dash = before.strip_prefix('-').filter(|_| pair == 0);
            after_dash
                .unwrap_or(before)
                .trim_start_matches(' ')
                .is_empty()
        })
    }

    pub(super) fn is_flow(&self) -> bool {
        self.entry.is_flow
    }

    pub(super) fn pairs(&self) -> &'o [Pair<'t>] {
        &self.entry.pairs
    }

    /// Returns how far the keys below the first one are indented, in block form.
    pub(super) fn margin(&self) -> usize {
        let start = self.start(0);
        start - start_of_line(self.text, start)
    }

    /// Returns the start of a key.
    pub(super) fn start(&self, pair: usize) -> usize {
        self.entry.line_start + self.entry.pairs[pair].span.start
    }

    /// Returns the end of a value; if it is a block scalar, before the line break of its last line.
    pub(super) fn end(&self, pair: usize) -> usize {
        match self.ends_in_block(pair) {
            true => self.end_of_block(pair),
            false => self.entry.line_start + self.entry.pairs[pair].span.end,
        }
    }

    fn ends_in_block(&self, pair: usize) -> bool {
        let last = self.entry.pairs[pair].values.last();
        last.is_some_and(|value| value.form == ScalarForm::Block)
    }

    /// Returns the end of a value that is, or ends in, a block scalar.
    fn end_of_block(&self, pair: usize) -> usize {
        // All its lines are indented deeper than the key.
        let key = self.start(pair);
        let margin = key - start_of_line(self.text, key);
        let header = line(&self.text[self.value_start(pair)..]);
        let from = self.value_start(pair) + header.len();
        let (mut own, mut last) = (from, from);
        for line in self.text[from..].split_inclusive('\n') {
            if !is_blank(line) && indent(line) <= margin {
                break;
            }
            last += line.len();
            if !is_blank(line) {
                own = last;
            }
        }
        // The indicator `+` keeps the blank lines at the end.
        let keeps = header.split('#').next().unwrap_or_default().contains('+');
        let text = &self.text[..if keeps { last } else { own }];
        let text = text.strip_suffix('\n').unwrap_or(text);
        text.strip_suffix('\r').unwrap_or(text).len()
    }

    /// Returns the range of a value that a new one replaces, and what must precede the new one.
    ///
    /// # Errors
    ///
    /// If a comment would be lost.
    pub(super) fn value(&self, pair: usize) -> Result<(Range<usize>, &'static str), Obstacle> {
        let Pair {
            is_list, values, ..
        } = &self.entry.pairs[pair];
        if let ([only], false) = (&values[..], is_list)
            && only.form != ScalarForm::Block
        {
            let at = self.entry.line_start;
            return Ok((at + only.span.start..at + only.span.end, ""));
        }
        self.refuse_comments(pair)?;
        let (colon, start) = (self.after_colon(pair), self.value_start(pair));
        Ok(match self.text[colon..start].contains('\n') {
            true => (colon..self.end(pair), " "),
            false => (start..self.end(pair), ""),
        })
    }

    /// Returns the range of a value from the colon of its key on.
    ///
    /// # Errors
    ///
    /// If a comment would be lost.
    pub(super) fn value_after_colon(&self, pair: usize) -> Result<Range<usize>, Obstacle> {
        self.refuse_comments(pair)?;
        Ok(self.after_colon(pair)..self.end(pair))
    }

    /// Returns where further items are added to a list, and what precedes each of them; `None` if
    /// the list must be rewritten.
    pub(super) fn after_items(&self, pair: usize) -> Option<(usize, String)> {
        let Pair {
            is_list, values, ..
        } = &self.entry.pairs[pair];
        let last = values.last().filter(|_| *is_list)?;
        if last.form == ScalarForm::Block {
            return None;
        }
        let at = self.entry.line_start;
        let (start, end) = (at + last.span.start, at + last.span.end);
        if self.text[self.value_start(pair)..].starts_with('[') {
            return Some((end, ", ".to_owned()));
        }
        let line_start = start_of_line(self.text, start);
        let before = &self.text[line_start..start];
        let is_plain = before.trim_start_matches(' ').strip_prefix('-');
        is_plain.filter(|rest| rest.trim_matches(' ').is_empty())?;
        let separator = format!("{}{before}", line_break_at(self.text, start));
        Some((end_of_line(self.text, end), separator))
    }

    /// Refuses a key whose value cannot be removed, whatever comments belong to it.
    pub(super) fn refuse_block_texts(&self, pair: usize) -> Result<(), Obstacle> {
        match self.entry.pairs[pair].is_list && self.has_block(pair) {
            true => Err(self.obstacle(
                Rule::LayoutBlockText,
                "a list with block scalars (\"|\" or \">\") cannot be changed",
            )),
            false => Ok(()),
        }
    }

    fn has_block(&self, pair: usize) -> bool {
        let mut values = self.entry.pairs[pair].values.iter();
        values.any(|value| value.form == ScalarForm::Block)
    }

    /// Returns the end of the line on which a value ends, or of the last comment below it that is indented
    /// deeper than the keys, in block form.
    pub(super) fn end_with_comments(&self, pair: usize) -> usize {
        let mut end = end_of_line(self.text, self.end(pair));
        let mut at = end + line(&self.text[end..]).len();
        for line in self.text[at..].split_inclusive('\n') {
            if is_comment(line) && indent(line) > self.margin() {
                end = end_of_line(self.text, at);
            } else if !is_blank(line) {
                break;
            }
            at += line.len();
        }
        end
    }

    /// Refuses a key whose value cannot be removed without a comment that belongs to it.
    pub(super) fn refuse_comments(&self, pair: usize) -> Result<(), Obstacle> {
        self.refuse_block_texts(pair)?;
        let values = &self.entry.pairs[pair].values;
        let has_block = self.has_block(pair);
        let start = self.value_start(pair);
        let mut outside = Vec::from([&self.text[self.after_colon(pair)..start]]);
        if has_block {
            outside.push(line(&self.text[start..]));
        } else {
            let mut from = start;
            for value in values {
                let at = self.entry.line_start;
                outside.push(&self.text[from..at + value.span.start]);
                from = at + value.span.end;
            }
            outside.push(&self.text[from..self.end(pair)]);
        }
        match outside.iter().any(|text| text.contains('#')) {
            true => Err(self.lost_comment()),
            false => Ok(()),
        }
    }

    /// Refuses keys in braces from one to another, between which there are comments.
    pub(super) fn refuse_comments_between(&self, pairs: Range<usize>) -> Result<(), Obstacle> {
        match self.has_comments_between(pairs) {
            true => Err(self.lost_comment()),
            false => Ok(()),
        }
    }

    /// Returns whether there are comments between keys in braces, from one to another.
    pub(super) fn has_comments_between(&self, mut pairs: Range<usize>) -> bool {
        pairs.any(|pair| self.text[self.end(pair)..self.start(pair + 1)].contains('#'))
    }

    /// Returns the end of the comma after a value in braces that is not the last.
    pub(super) fn end_of_comma(&self, pair: usize) -> usize {
        let mut at = self.end(pair);
        for line in self.text[at..self.start(pair + 1)].split_inclusive('\n') {
            let before_comment = line.split('#').next().unwrap_or_default();
            if let Some(comma) = before_comment.find(',') {
                return at + comma + 1;
            }
            at += line.len();
        }
        self.end(pair)
    }

    /// Returns the end of a comment on the same line, if there is one after an offset.
    pub(super) fn end_of_comment(&self, at: usize) -> usize {
        let line = &self.text[at..end_of_line(self.text, at)];
        let is_comment = line.trim_start_matches([' ', '\t']).starts_with('#');
        at + if is_comment { line.len() } else { 0 }
    }

    fn lost_comment(&self) -> Obstacle {
        let message = "a comment within what is to be changed would be lost";
        self.obstacle(Rule::LayoutFlowStyle, message)
    }

    /// Returns an obstacle to changing the entry.
    pub(super) fn obstacle(&self, rule: Rule, message: &'static str) -> Obstacle {
        Obstacle::of_entry(rule, self.entry.position, message)
    }

    /// Returns the offset after the colon of a key.
    fn after_colon(&self, pair: usize) -> usize {
        let end = self.entry.line_start + self.entry.pairs[pair].key_end;
        // In a document that was parsed, only blanks come before it.
        self.text[end..]
            .find(':')
            .map_or(end, |colon| end + colon + 1)
    }

    /// Returns the start of a value: of a block scalar, its indicator.
    fn value_start(&self, pair: usize) -> usize {
        let mut rest = &self.text[self.after_colon(pair)..];
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            if !rest.starts_with('#') {
                return self.text.len() - rest.len();
            }
            rest = rest.trim_start_matches(|c| c != '\n');
        }
    }
}

/// Returns the start of the line of an offset.
pub(super) fn start_of_line(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |found| found + 1)
}

/// Returns the end of the line of an offset, before its line break.
pub(super) fn end_of_line(text: &str, at: usize) -> usize {
    let line = line(&text[at..]);
    let line = line.strip_suffix('\n').unwrap_or(line);
    at + line.strip_suffix('\r').unwrap_or(line).len()
}
