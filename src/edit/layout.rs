//! Layouts: a document split into its entries and the text around them.
//!
//! The lines of an entry are its own, from its dash on, with every comment below that is indented
//! deeper than the dash; and the other comments right above it, up to a blank line. Comments
//! followed by a blank line head a section; they and the sections keep their order. Blank lines
//! between entries are gaps, which belong to the place and not to an entry.
//!
//! Invariant: writing out an unchanged layout gives the document byte for byte.

use std::fmt;

use super::refusal::refused;
use crate::mapping::{Code, Diagnostic, EntryOutline, Outline, Pair, SourceFile};

/// Characters that may indent a line that is only a comment.
const BLANKS: [char; 2] = [' ', '\t'];

/// A document in parts.
#[derive(Debug, Clone)]
pub struct Layout<'t> {
    /// Everything up to the first entry and its comments; without entries, up to the line on which
    /// the list ends.
    pub before: &'t str,
    /// The entries in their sections; empty if there are no entries.
    pub sections: Vec<Section<'t>>,
    /// Everything after the last entry.
    pub after: &'t str,
    /// The line break of the first line: `\n` or `\r\n`.
    pub line_break: &'static str,
    /// Whether the document begins with a byte order mark.
    has_mark: bool,
    /// Whether the last line of the last entry had no line break in the text; here it has one.
    ends_open: bool,
}

/// A group of entries and its heading.
#[derive(Debug, Clone)]
pub struct Section<'t> {
    /// Comments, with the blank lines around them. The first section has none.
    pub heading: &'t str,
    /// The entries: at least one.
    pub entries: Vec<LayoutEntry<'t>>,
}

/// An entry with its lines.
#[derive(Debug, Clone)]
pub struct LayoutEntry<'t> {
    /// Blank lines above it and its comments. The first entry of a section has none.
    pub gap: &'t str,
    /// The comments right above it.
    pub comments: &'t str,
    /// Its lines, each with its line break.
    pub body: String,
    /// Its code: custom, number or auto.
    pub code: Code,
    /// Its keys. Their spans refer to `body` as it was read.
    pub pairs: Vec<Pair<'t>>,
}

impl<'t> Layout<'t> {
    /// Splits a document.
    ///
    /// # Errors
    ///
    /// Returns the problems of the document if it has its own errors, or the reason why it
    /// cannot be split safely: entries that are not in block form, texts after `|` or `>`, or lone
    /// carriage returns.
    pub fn read(file: &'t SourceFile) -> Result<Self, Vec<Diagnostic>> {
        let outline = Outline::of(file)?;
        if let Some(problem) = refused(&outline, file) {
            return Err(vec![problem]);
        }
        let text = outline.text;
        let mut layout = Self {
            before: "",
            sections: Vec::new(),
            after: "",
            line_break: line_break(text),
            has_mark: text.len() < file.bytes.len(),
            ends_open: false,
        };
        layout.fill(outline);
        Ok(layout)
    }

    fn fill(&mut self, outline: Outline<'t>) {
        let text = outline.text;
        if outline.entries.is_empty() {
            let end = outline.list_end + line(&text[outline.list_end..]).len();
            (self.before, self.after) = text.split_at(end);
            return;
        }
        let starts: Vec<_> = outline.entries.iter().map(|it| it.line_start).collect();
        let ends = starts[1..].iter().copied().chain([text.len()]);
        // The start of the text that is not assigned yet.
        let mut from = 0;
        for ((entry, start), end) in outline.entries.into_iter().zip(&starts).zip(ends) {
            let lines = &text[*start..end];
            let body = &lines[..body_len(lines, &entry.pairs)];
            self.push(&text[from..*start], body, entry);
            from = start + body.len();
        }
        self.after = &text[from..];
        let section = self.sections.last_mut();
        let last = section.and_then(|section| section.entries.last_mut());
        if let Some(last) = last.filter(|last| !last.body.ends_with('\n')) {
            last.body.push_str(self.line_break);
            self.ends_open = true;
        }
    }

    fn push(&mut self, above: &'t str, body: &'t str, outline: EntryOutline<'t>) {
        let (above, comments) = above.split_at(above.len() - comments_len(above, indent(body)));
        let mut entry = LayoutEntry {
            gap: "",
            comments,
            body: body.to_owned(),
            code: outline.code,
            pairs: outline.pairs,
        };
        let heading = match self.sections.last_mut() {
            Some(section) if is_blank(above) => {
                entry.gap = above;
                return section.entries.push(entry);
            }
            Some(_) => above,
            None => {
                self.before = above;
                ""
            }
        };
        let entries = vec![entry];
        self.sections.push(Section { heading, entries });
    }
}

/// Writes the document.
impl fmt::Display for Layout<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.has_mark {
            f.write_str("\u{feff}")?;
        }
        f.write_str(self.before)?;
        let mut sections = self.sections.iter().peekable();
        while let Some(section) = sections.next() {
            f.write_str(section.heading)?;
            let mut entries = section.entries.iter().peekable();
            while let Some(entry) = entries.next() {
                f.write_str(entry.gap)?;
                f.write_str(entry.comments)?;
                let is_last = entries.peek().is_none() && sections.peek().is_none();
                f.write_str(if is_last && self.ends_open {
                    entry.body.trim_end_matches(['\r', '\n'])
                } else {
                    &entry.body
                })?;
            }
        }
        f.write_str(self.after)
    }
}

/// Returns the length of the entry with some keys at the start of a text, including comments in it.
pub(super) fn body_len(text: &str, pairs: &[Pair<'_>]) -> usize {
    let value_end = pairs.last().map_or(0, |pair| pair.span.end);
    let own = value_end + line(&text[value_end..]).len();
    own + deep_comments_len(&text[own..], indent(text))
}

/// Returns the length of the leading comments that are indented deeper than the dash; blank lines
/// and other comments may be between them.
pub(super) fn deep_comments_len(text: &str, dash: usize) -> usize {
    let (mut len, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        if !is_comment(line) && !is_blank(line) {
            // Text after the list of entries has its own comments.
            break;
        }
        if is_comment(line) && indent(line) > dash {
            len = at;
        }
    }
    len
}

/// Returns the length of the comments at the end of a text, if none is indented deeper than the
/// dash.
pub(super) fn comments_len(text: &str, dash: usize) -> usize {
    let lines = text.split_inclusive('\n').rev();
    let comments = lines.take_while(|line| is_comment(line) && indent(line) <= dash);
    comments.map(str::len).sum()
}

/// Returns the first line of a text, with its line break.
pub(super) fn line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap_or_default()
}

/// Returns the line break of the first line of a text.
pub(super) fn line_break(text: &str) -> &'static str {
    if line(text).ends_with("\r\n") {
        "\r\n"
    } else {
        "\n"
    }
}

/// Returns the line break of the line of an offset; if it has none, as the last one may, that of the
/// line before.
pub(super) fn line_break_at(text: &str, at: usize) -> &'static str {
    let end = at + line(&text[at..]).len();
    let own = text[..end].rfind('\n').map_or(0, |found| found + 1);
    match text[..own].ends_with("\r\n") {
        true => "\r\n",
        false => "\n",
    }
}

/// Returns the length of the indentation of a line.
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(BLANKS).len()
}

/// Returns whether a line is only a comment.
pub(super) fn is_comment(line: &str) -> bool {
    line.trim_start_matches(BLANKS).starts_with('#')
}

/// Returns whether a text consists of blanks and line breaks only.
pub(super) fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| b" \t\r\n".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> SourceFile {
        SourceFile {
            path: "t.yaml".into(),
            bytes: text.into(),
        }
    }

    #[test]
    fn every_line_has_its_place() {
        let file = file(
            "mapping:\n# head\n\n# a1\n# a2\n- url: https://e.org/\n  short-code: a\n  # a3\n\n  # a4\n\n\
             # b1\n- number: 11\n  retired: true\n# section\n\n- url: https://e.org/c\n  short-code: c\n\
             \n# tail\ntests: []",
        );
        let layout = Layout::read(&file).unwrap();
        assert_eq!(layout.before, "mapping:\n# head\n\n");
        assert_eq!(layout.after, "\n# tail\ntests: []");
        let [first, second] = &layout.sections[..] else {
            panic!("{layout:?}");
        };
        let parts: Vec<_> = (first.entries.iter())
            .map(|it| (it.gap, it.comments, &*it.body, it.code.as_str()))
            .collect();
        assert_eq!(
            parts,
            [
                (
                    "",
                    "# a1\n# a2\n",
                    "- url: https://e.org/\n  short-code: a\n  # a3\n\n  # a4\n",
                    "a"
                ),
                ("\n", "# b1\n", "- number: 11\n  retired: true\n", "b"),
            ]
        );
        assert_eq!(second.heading, "# section\n\n");
        assert_eq!(second.entries[0].comments, "");
    }

    #[test]
    fn an_empty_list_ends_where_its_line_does() {
        let file = file("mapping: [\n] # none\n# tail\n");
        let layout = Layout::read(&file).unwrap();
        assert!(layout.sections.is_empty());
        assert_eq!(
            (layout.before, layout.after),
            ("mapping: [\n] # none\n", "# tail\n")
        );
    }
}
