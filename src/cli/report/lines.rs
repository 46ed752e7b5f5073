//! The source lines of diagnostics.
//!
//! Diagnostics are sorted by file and line, so one pass over the text finds all lines, and no
//! others are kept. Another order is slower, but also correct.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use memchr::memchr2;

use super::findings::Findings;
use crate::mapping::{Diagnostic, Place, SourceFile};

/// Returns each diagnostic with its line, if its file has that line.
///
/// Bytes that are not UTF-8 are replaced; line breaks and byte order marks are excluded.
pub(crate) fn with_lines<'f>(
    findings: &'f Findings,
) -> impl Iterator<Item = (&'f Diagnostic, Option<Rc<Line<'f>>>)> {
    let mut lines = SourceLines::of(&findings.files);
    (findings.diagnostics().iter())
        .map(move |diagnostic| (diagnostic, lines.get(&diagnostic.place)))
}

/// A line of a file, shared by all diagnostics about it.
///
/// A line may be a whole table: each diagnostic continues where the previous one was.
#[derive(Debug)]
pub(crate) struct Line<'f> {
    text: Cow<'f, str>,
    /// How many characters precede which byte.
    reached: Cell<(usize, usize)>,
}

impl<'f> Line<'f> {
    /// Returns the line without trailing blanks.
    pub(crate) fn new(text: impl Into<Cow<'f, str>>) -> Self {
        let text = match text.into() {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_end()),
            Cow::Owned(text) => Cow::Owned(text.trim_end().to_owned()),
        };
        Self {
            text,
            reached: Cell::new((0, 0)),
        }
    }

    /// Returns the text of the line.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Splits the line before a column, which counts characters from 1.
    pub(crate) fn split_at(&self, column: u32) -> (&str, &str) {
        let before = column.saturating_sub(1) as usize;
        let (mut characters, mut at) = self.reached.get();
        if before < characters {
            (characters, at) = (0, 0);
        }
        let rest = self.text[at..].chars().take(before - characters);
        for character in rest {
            at += character.len_utf8();
            characters += 1;
        }
        self.reached.set((characters, at));
        self.text.split_at(at)
    }
}

/// The lines of some files, with a cursor at the line found last.
struct SourceLines<'f> {
    files: HashMap<&'f str, &'f SourceFile>,
    file: &'f str,
    /// The number of the line found last; 0 if none.
    number: u32,
    bytes: &'f [u8],
    /// The same as text, once requested.
    line: Option<Rc<Line<'f>>>,
    rest: &'f [u8],
}

impl<'f> SourceLines<'f> {
    fn of(files: &'f [SourceFile]) -> Self {
        let files = files.iter().map(|file| (&*file.path, file));
        Self {
            files: files.collect(),
            file: "",
            number: 0,
            bytes: &[],
            line: None,
            rest: &[],
        }
    }

    fn get(&mut self, place: &Place) -> Option<Rc<Line<'f>>> {
        if *self.file != *place.file || place.position.line < self.number {
            let file = *self.files.get(&*place.file)?;
            self.file = &file.path;
            self.number = 0;
            self.line = None;
            self.rest = (file.bytes.strip_prefix("\u{feff}".as_bytes())).unwrap_or(&file.bytes);
        }
        while self.number < place.position.line {
            let (line, rest) = split_line(self.rest)?;
            self.rest = rest;
            self.number += 1;
            self.bytes = line;
            self.line = None;
        }
        let line = self.line.take();
        let line = line.unwrap_or_else(|| Rc::new(Line::new(String::from_utf8_lossy(self.bytes))));
        self.line = Some(Rc::clone(&line));
        Some(line)
    }
}

/// Splits off the first line; YAML has three line breaks (YAML 1.2.2, section 5.4).
fn split_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if text.is_empty() {
        return None;
    }
    let Some(end) = memchr2(b'\n', b'\r', text) else {
        return Some((text, &[]));
    };
    let length = if text[end..].starts_with(b"\r\n") {
        2
    } else {
        1
    };
    Some((&text[..end], &text[end + length..]))
}

#[cfg(test)]
mod tests {
    use super::super::levels::Levels;
    use super::*;
    use crate::mapping::compile;

    /// Compiles two files, and returns the lines of the first one's problems.
    fn lines(text: &str) -> Vec<Option<String>> {
        let file = |path: &str, text: &str| SourceFile {
            path: path.into(),
            bytes: text.into(),
        };
        let files = vec![
            file("a.yaml", text),
            file("b.yaml", "base_url: https://b.example/\nmapping: []\n"),
        ];
        let compilation = compile(&files);
        let findings = Findings::new(files, compilation, Levels::default());
        with_lines(&findings)
            .map(|(_, line)| line.map(|line| line.text().to_owned()))
            .collect()
    }

    #[test]
    fn finds_lines_whatever_ends_them() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["\u{feff}x: 1", "base_url: https://a.example/", "", "y: é"];
            let reported = lines(&(text.join(end) + end + "mapping: []"));
            assert_eq!(
                reported,
                ["x: 1", "y: é"].map(|it| Some(it.to_owned())),
                "{end:?}"
            );
        }
    }

    #[test]
    fn finds_lines_requested_out_of_order() {
        let files = [SourceFile {
            path: "a".into(),
            bytes: b"one\ntwo\n".to_vec(),
        }];
        let mut lines = SourceLines::of(&files);
        let mut place = Place {
            file: "a".into(),
            position: crate::mapping::Position { line: 2, column: 1 },
        };
        let mut get = |place: &Place| lines.get(place).map(|line| line.text().to_owned());
        assert_eq!(get(&place).as_deref(), Some("two"));
        place.position.line = 1;
        assert_eq!(get(&place).as_deref(), Some("one"));
        place.position.line = 3;
        assert_eq!(get(&place), None);
        place.file = "b".into();
        assert_eq!(get(&place), None);
    }

    #[test]
    fn splits_a_line_wherever_it_was_split_before() {
        let line = Line::new("aé漢b  ");
        for (column, before, after) in [
            (3, "aé", "漢b"),
            (4, "aé漢", "b"),
            (2, "a", "é漢b"),
            (0, "", "aé漢b"),
            (5, "aé漢b", ""),
            (u32::MAX, "aé漢b", ""),
            (1, "", "aé漢b"),
        ] {
            assert_eq!(line.split_at(column), (before, after), "{column}");
        }
    }
}
