//! Envelopes: the byte order mark and the line endings of a file.
//!
//! The result of a merge has the envelope of ours, but follows the side that added or removed the
//! last line break. Between opening and closing, every line ends in a line feed.

use super::sides::Sides;
use crate::mapping::SourceFile;

const MARK: &str = "\u{feff}";

/// The byte order mark and the line endings of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Envelope {
    has_mark: bool,
    /// Whether lines end in `\r\n`.
    is_crlf: bool,
    /// Whether the last line has no line break.
    ends_open: bool,
}

impl Envelope {
    /// Returns the envelope of a file, and the file without it; `None` if it mixes line endings or
    /// is not text.
    pub(super) fn open(file: &SourceFile) -> Option<(Self, SourceFile)> {
        let text = std::str::from_utf8(&file.bytes).ok()?;
        let lines = text.strip_prefix(MARK).unwrap_or(text);
        let returns = lines.matches("\r\n").count();
        let feeds = lines.matches('\n').count();
        let envelope = Self {
            has_mark: lines.len() < text.len(),
            is_crlf: returns > 0,
            ends_open: !lines.ends_with('\n'),
        };
        let mut lines = lines.replace("\r\n", "\n");
        if envelope.ends_open {
            lines.push('\n');
        }
        let file = SourceFile {
            path: file.path.clone(),
            bytes: lines.into_bytes(),
        };
        (returns == 0 || returns == feeds).then_some((envelope, file))
    }

    /// Returns the envelope of the result.
    pub(super) fn merged(sides: Sides<Self>) -> Self {
        let ends_open = sides.map(|it| it.ends_open).settled();
        Self {
            ends_open: ends_open.unwrap_or_default(),
            ..sides.ours
        }
    }

    /// Returns lines in the form of the file.
    pub(super) fn close(self, mut lines: String) -> Vec<u8> {
        if self.ends_open {
            lines.truncate(lines.trim_end_matches('\n').len());
        }
        if self.is_crlf {
            lines = lines.replace('\n', "\r\n");
        }
        if self.has_mark {
            lines.insert_str(0, MARK);
        }
        lines.into_bytes()
    }
}
