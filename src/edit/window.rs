//! Windows: some pieces of a list of entries, or one entry, outlined as a document of their own.

use std::ops::Range;

use crate::mapping::{Cut, Outline, Scheme, SourceFile};

/// What makes a document of some entries.
const HEAD: &str = "mapping:\n";

/// The pieces of a list of entries in block form, whose text is read where it is needed.
#[derive(Clone, Copy)]
pub struct ListPieces<'l> {
    /// Where the file was cut. All its pieces are in block form.
    pub cut: &'l Cut,
    /// The scheme of the site.
    pub scheme: Scheme,
    /// Returns the text of some bytes of the file, if it is there.
    pub read: &'l (dyn Fn(Range<usize>) -> Option<String> + Sync),
}

/// Some entries of a list.
pub(super) struct Window {
    file: SourceFile,
    scheme: Scheme,
    /// Where they begin in the file.
    start: usize,
    /// The number of their first line, from 1.
    line: u32,
}

impl ListPieces<'_> {
    /// Returns the pieces with some numbers, of which there is at least one.
    pub(super) fn window(&self, numbers: Range<usize>) -> Option<Window> {
        let pieces = self.cut.pieces().get(numbers)?;
        let (first, last) = (pieces.first()?, pieces.last()?);
        let text = (self.read)(first.start..last.range().end)?;
        Some(self.window_of(&text, (first.start, first.line)))
    }

    /// Returns the first entry of the piece with a number.
    pub(super) fn first_entry(&self, number: usize) -> Option<Window> {
        let piece = self.cut.pieces().get(number)?;
        let text = (self.read)(piece.range())?;
        let mut starts = self.cut.list.as_ref()?.entry_starts(&text).skip(1);
        let end = starts.next().map_or(text.len(), |(start, _)| start);
        Some(self.window_of(&text[..end], (piece.start, piece.line)))
    }

    /// Returns the last entry of the piece with a number.
    pub(super) fn last_entry(&self, number: usize) -> Option<Window> {
        let piece = self.cut.pieces().get(number)?;
        let text = (self.read)(piece.range())?;
        let (start, line) = self.cut.list.as_ref()?.entry_starts(&text).last()?;
        Some(self.window_of(&text[start..], (piece.start + start, piece.line + line)))
    }

    /// Returns some text of the list, of whole entries, that begins at a byte and a line of the file.
    fn window_of(&self, text: &str, (start, line): (usize, u32)) -> Window {
        Window {
            file: SourceFile::new("".into(), [HEAD, text].concat().into_bytes()),
            scheme: self.scheme,
            start,
            line,
        }
    }

    /// Returns the text of the piece with a number, if it is there unchanged.
    pub(super) fn piece(&self, number: usize) -> Option<String> {
        let piece = self.cut.pieces().get(number)?;
        let text = (self.read)(piece.range())?;
        piece.is(text.as_bytes()).then_some(text)
    }

    /// Returns the column of the dashes, from 0, and the first line of the piece with a number.
    pub(super) fn place(&self, number: usize) -> Option<(usize, u32)> {
        let list = self.cut.list.as_ref()?;
        Some((list.indent, list.pieces.get(number)?.line))
    }

    /// Returns the text before the list, if it is there unchanged.
    pub(super) fn before(&self) -> Option<String> {
        let list = self.cut.list.as_ref()?;
        let text = (self.read)(0..list.pieces.first()?.start)?;
        let own = text.strip_prefix('\u{feff}').unwrap_or(&text);
        (*own == *list.before).then_some(text)
    }

    /// Returns the text after the list, if it is there unchanged.
    pub(super) fn after(&self) -> Option<String> {
        let list = self.cut.list.as_ref()?;
        let end = usize::try_from(self.cut.size()).ok()?;
        let text = (self.read)(list.pieces.last()?.range().end..end)?;
        (list.after.as_deref() == Some(&*text)).then_some(text)
    }

    /// Returns the number of the piece with a line of the file.
    pub(super) fn piece_of_line(&self, line: u32) -> Option<usize> {
        let after = self.cut.pieces().partition_point(|it| it.line <= line);
        after.checked_sub(1)
    }
}

impl Window {
    /// Outlines the entries.
    pub(super) fn outline(&self) -> Option<Outline<'_>> {
        Outline::of_sound(&self.file, self.scheme).ok()
    }

    /// Returns the line of the file that a line of the outline is.
    pub(super) fn line_in_file(&self, line: u32) -> u32 {
        line - 2 + self.line
    }

    /// Returns where a part of the outlined text is in the file.
    pub(super) fn range_in_file(&self, range: Range<usize>) -> Range<usize> {
        let moved = |at: usize| at - HEAD.len() + self.start;
        moved(range.start)..moved(range.end)
    }
}
