//! Pieces of the result, agreed or with a conflict marked.

/// A part of the result.
#[derive(Debug)]
pub(super) enum MergedPiece {
    Agreed(String),
    Clash(Clash),
}

/// A conflict between both sides.
#[derive(Debug)]
pub(super) struct Clash {
    /// With markers.
    pub(super) marked: String,
    /// As ours has it.
    pub(super) ours: String,
    /// As theirs has it.
    pub(super) theirs: String,
    /// A description of the conflict.
    pub(super) why: String,
}

/// How to write a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rendering {
    /// With conflicts marked.
    Marked,
    /// As if each conflict were decided for ours.
    Ours,
    /// As if each conflict were decided for theirs.
    Theirs,
}

impl Clash {
    /// Marks a conflict between lines of both sides; each may have none.
    pub(super) fn new(ours: String, theirs: String, why: String) -> Self {
        Self {
            marked: format!("<<<<<<< ours: {why}\n{ours}=======\n{theirs}>>>>>>> theirs\n"),
            ours,
            theirs,
            why,
        }
    }
}

impl MergedPiece {
    /// Returns its lines.
    pub(super) fn text(&self, view: Rendering) -> &str {
        match (self, view) {
            (Self::Agreed(text), _) => text,
            (Self::Clash(clash), Rendering::Marked) => &clash.marked,
            (Self::Clash(clash), Rendering::Ours) => &clash.ours,
            (Self::Clash(clash), Rendering::Theirs) => &clash.theirs,
        }
    }
}
