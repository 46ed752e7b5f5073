//! A result in parts: written out, with conflicts marked or decided, and read again to verify it.

use super::account::{self, Account};
use super::items::ItemKey;
use super::merged::Conflict;
use super::piece::{MergedPiece, Rendering};
use super::placed::Placed;
use super::sides::Sides;
use crate::edit::layout::Layout;
use crate::mapping::SourceFile;

/// A result in parts.
pub(super) struct Parts<'l> {
    pub(super) head: MergedPiece,
    pub(super) placed: Vec<Placed<'l>>,
    pub(super) tail: MergedPiece,
    /// The column of the dashes.
    pub(super) dash: Option<usize>,
}

impl Parts<'_> {
    /// Writes the result; returns the conflicts if they are marked.
    pub(super) fn write(&self, view: Rendering) -> (String, Vec<Conflict>) {
        let mut writer = PartsWriter {
            view,
            text: String::new(),
            line: 1,
            conflicts: Vec::new(),
        };
        writer.push(&self.head);
        // A separate comment needs a blank line below it, or it would belong to an entry.
        let mut is_loose = false;
        for placed in &self.placed {
            if placed.piece.text(view).is_empty() {
                continue;
            }
            writer.lines(if is_loose && placed.gap.is_empty() {
                "\n"
            } else {
                &placed.gap
            });
            writer.push(&placed.piece);
            is_loose = match placed.key {
                ItemKey::Comment(..) => !self.is_deep(placed.piece.text(view)),
                ItemKey::Entry(_) => false,
            };
        }
        writer.push(&self.tail);
        (writer.text, writer.conflicts)
    }

    /// Returns whether comments end deeper than the dashes, so that they do not belong to the next
    /// entry.
    fn is_deep(&self, comments: &str) -> bool {
        let last = comments.lines().last().unwrap_or_default();
        let column = last.len() - last.trim_start().len();
        self.dash.is_some_and(|dash| column > dash)
    }

    /// Returns whether the result, read from scratch, contains what it should.
    pub(super) fn is_complete(&self, sides: &Sides<Account>) -> bool {
        let account = |view| {
            let file = SourceFile {
                path: "".into(),
                bytes: self.write(view).0.into_bytes(),
            };
            Layout::read(&file).ok().map(|layout| Account::of(&layout))
        };
        let Some(ours) = account(Rendering::Ours) else {
            return false;
        };
        let mut pieces = self
            .placed
            .iter()
            .map(|it| &it.piece)
            .chain([&self.head, &self.tail]);
        if pieces.any(|piece| matches!(piece, MergedPiece::Clash(_))) {
            account(Rendering::Theirs)
                .is_some_and(|theirs| account::covers(sides, [&ours, &theirs]))
        } else {
            account::balances(sides, &ours)
        }
    }
}

struct PartsWriter {
    view: Rendering,
    text: String,
    /// The next line.
    line: usize,
    conflicts: Vec<Conflict>,
}

impl PartsWriter {
    fn lines(&mut self, text: &str) {
        self.text += text;
        self.line += text.matches('\n').count();
    }

    fn push(&mut self, piece: &MergedPiece) {
        let text = piece.text(self.view);
        if let (MergedPiece::Clash(clash), Rendering::Marked) = (piece, self.view) {
            self.conflicts
                .extend(Conflict::marked(text, self.line, &clash.why));
        }
        self.lines(text);
    }
}
