//! Gaps between the entries of a list, as far as they decide where a new entry goes: whether a comment
//! followed by a blank line heads a section, and whether entries are separated by blank lines.

/// What is in the gaps of a piece: between its entries, and before the entry after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Gaps {
    /// Whether a comment followed by a blank line heads an entry.
    pub(crate) have_heading: bool,
    /// Whether a blank line precedes an entry.
    pub(crate) have_blank: bool,
    /// Whether nothing but its own comments precedes an entry.
    pub(crate) have_none: bool,
}

/// The gaps of a piece that is being read.
#[derive(Debug, Default)]
pub(super) struct GapScan {
    found: Gaps,
    /// Whether lines of the piece were skipped, so that there may be more gaps.
    has_skipped: bool,
    /// Whether the current gap has a comment that does not belong to the entry above it.
    has_comment: bool,
    has_blank: bool,
    /// Whether a blank line follows such a comment.
    has_heading: bool,
}

impl GapScan {
    /// Moves over a line that begins no entry, given without its end and with the column of the dashes.
    pub(super) fn pass(&mut self, line: &[u8], dash: usize) {
        let own = indentation(line);
        match &line[own..] {
            [] => {
                self.has_blank = true;
                self.has_heading |= self.has_comment;
            }
            [b'#', ..] if own <= dash => self.has_comment = true,
            // It belongs to the entry, and so does what is above it.
            _ => self.begin(),
        }
    }

    /// Ends a gap: an entry begins.
    pub(super) fn end_gap(&mut self) {
        self.found.have_heading |= self.has_heading;
        self.found.have_blank |= self.has_blank;
        self.found.have_none |= !self.has_blank;
        self.begin();
    }

    /// Moves over lines of the piece that are not read.
    pub(super) fn skip(&mut self) {
        self.has_skipped = true;
    }

    /// Returns the gaps of a piece at its end, and begins the next one; `None` if lines of it were
    /// skipped.
    pub(super) fn take(&mut self) -> Option<Gaps> {
        let ended = std::mem::take(self);
        (!ended.has_skipped).then_some(ended.found)
    }

    fn begin(&mut self) {
        *self = Self {
            found: self.found,
            has_skipped: self.has_skipped,
            ..Self::default()
        };
    }
}

/// Returns the number of spaces at the start of a line.
pub(super) fn indentation(line: &[u8]) -> usize {
    line.iter().take_while(|byte| **byte == b' ').count()
}
