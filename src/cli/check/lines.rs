//! The source lines that diagnostics are about.
//!
//! Diagnostics come in the order of files and lines, so one pass over the text finds all lines, and
//! nothing is kept of the others. Another order is slower, not wrong.

use std::borrow::Cow;

use memchr::memchr2;

use super::findings::Findings;
use crate::mapping::{Diagnostic, Place, SourceFile};

/// Returns each diagnostic with the line that it is about, if its file has that line.
///
/// What is not UTF-8 is replaced; a line break or byte order mark is no part of a line.
pub(super) fn with_lines<'f>(
    findings: &'f Findings,
) -> impl Iterator<Item = (&'f Diagnostic, Option<Cow<'f, str>>)> {
    let mut lines = Lines::of(&findings.files);
    (findings.diagnostics().iter()).map(move |diagnostic| {
        let line = lines.get(&diagnostic.place);
        (diagnostic, line.map(String::from_utf8_lossy))
    })
}

/// The lines of some files, of which one was found last.
struct Lines<'f> {
    files: &'f [SourceFile],
    file: &'f str,
    /// Which line was found last; 0 is none.
    number: u32,
    line: &'f [u8],
    rest: &'f [u8],
}

impl<'f> Lines<'f> {
    fn of(files: &'f [SourceFile]) -> Self {
        Self {
            files,
            file: "",
            number: 0,
            line: &[],
            rest: &[],
        }
    }

    fn get(&mut self, place: &Place) -> Option<&'f [u8]> {
        if *self.file != *place.file || place.position.line < self.number {
            let file = self.files.iter().find(|file| file.path == place.file)?;
            self.file = &file.path;
            self.number = 0;
            self.rest = (file.bytes.strip_prefix("\u{feff}".as_bytes())).unwrap_or(&file.bytes);
        }
        while self.number < place.position.line {
            (self.line, self.rest) = split_line(self.rest)?;
            self.number += 1;
        }
        Some(self.line)
    }
}

/// Splits the first line off; YAML knows three line breaks (YAML 1.2.2, section 5.4).
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
        let findings = Findings {
            compilation: compile(&files),
            files,
            deny_warnings: false,
        };
        with_lines(&findings)
            .map(|(_, line)| line.map(Cow::into_owned))
            .collect()
    }

    #[test]
    fn finds_lines_whatever_ends_them() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["\u{feff}x: 1", "base_url: https://a.example/", "", "y: é"];
            let told = lines(&(text.join(end) + end + "mapping: []"));
            assert_eq!(
                told,
                ["x: 1", "y: é"].map(|it| Some(it.to_owned())),
                "{end:?}"
            );
        }
    }

    #[test]
    fn goes_back_when_told_out_of_order() {
        let files = [SourceFile {
            path: "a".into(),
            bytes: b"one\ntwo\n".to_vec(),
        }];
        let mut lines = Lines::of(&files);
        let mut place = Place {
            file: "a".into(),
            position: crate::mapping::Position { line: 2, column: 1 },
        };
        assert_eq!(lines.get(&place), Some(&b"two"[..]));
        place.position.line = 1;
        assert_eq!(lines.get(&place), Some(&b"one"[..]));
        place.position.line = 3;
        assert_eq!(lines.get(&place), None);
        place.file = "b".into();
        assert_eq!(lines.get(&place), None);
    }
}
