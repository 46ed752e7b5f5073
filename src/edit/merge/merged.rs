//! The result of a merge: its text, its conflicts, and how it was made.

use crate::mapping::Diagnostic;

/// The result of a merge.
#[derive(Debug)]
pub struct Merged {
    /// The content of the file.
    pub text: Vec<u8>,
    /// The conflicts that a person must resolve, in line order; empty if the merge is clean.
    pub conflicts: Vec<Conflict>,
    /// The reason why it was merged by lines, if it could not be merged by meaning.
    pub by_lines: Option<NotByMeaning>,
}

/// A conflict that a person must resolve.
#[derive(Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The line of the result on which it begins, from 1.
    pub line: usize,
    /// A description of the conflict, and what to do.
    pub message: String,
}

impl Conflict {
    /// Returns the conflicts that are marked in a text beginning on a line.
    pub(super) fn marked(text: &str, line: usize, why: &str) -> Vec<Self> {
        let lines = text.lines().zip(line..);
        let markers = lines.filter(|(text, _)| text.starts_with("<<<<<<< "));
        let conflicts = markers.map(|(_, line)| Self {
            line,
            message: format!("{why}: keep what is right, and remove the marker lines"),
        });
        conflicts.collect()
    }
}

/// The reason why nothing could be merged.
#[derive(Debug, thiserror::Error)]
#[error("cannot merge by lines")]
pub struct MergeError(#[from] git2::Error);

/// The reason why two versions cannot be merged by meaning.
#[derive(Debug, thiserror::Error)]
pub enum NotByMeaning {
    /// The versions are not the same kind of text.
    #[error("line endings are mixed, or the file is not text")]
    Lines,
    /// A version cannot be split into entries.
    #[error("{}", unreadable(side, problem.as_ref()))]
    Unreadable {
        /// The version.
        side: &'static str,
        /// The first error in it.
        problem: Option<Diagnostic>,
    },
    /// The lists begin in different columns.
    #[error("its list cannot be indented like that of the other version")]
    Indentation,
    /// A code is not unique, so entries cannot be matched by code.
    #[error("one version has the same code twice")]
    CodeTwice,
    /// The text around the entries cannot be merged.
    #[error(transparent)]
    Around(#[from] git2::Error),
    /// The result does not contain exactly what it should.
    #[error("the changes of both sides do not fit together")]
    Unbalanced,
}

fn unreadable(side: &str, problem: Option<&Diagnostic>) -> String {
    match problem {
        Some(problem) => {
            let line = problem.place.position.line;
            format!("line {line} of {side}: {}", problem.message)
        }
        None => format!("{side} cannot be read"),
    }
}
