//! What Apache answers to a path.

use std::rc::Rc;

use crate::exchange::read::rows::RowError;
use crate::mapping::{Forward, Status};

/// What is answered to a path, and the line that decides it.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) line: Option<usize>,
    pub(super) kind: AnswerKind,
}

/// What is answered to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnswerKind {
    Redirect(Location),
    Gone,
    NotFound,
    /// A redirect to the same path with a slash after it.
    Slash,
    /// A file, or the list of a directory.
    File,
    /// Something that a table does not answer, or that is not known.
    Other(Rc<RowError>),
}

/// Where a redirect leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) status: Status,
    /// The URL in canonical form.
    pub(super) url: String,
    /// Whether the query of the request is appended.
    pub(super) with_query: bool,
}

impl Location {
    /// Returns what a link for the path alone forwards.
    pub(super) fn forward(&self) -> Forward {
        match self.with_query {
            true => Forward::Query,
            false => Forward::None,
        }
    }

    /// Returns whether one entry can lead to both locations.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.status, self.with_query) == (other.status, other.with_query)
    }

    /// Returns whether one entry with variants can lead to both locations: their statuses may differ if both
    /// are temporary.
    pub(super) fn is_nearly_like(&self, other: &Self) -> bool {
        let are_temporary = is_temporary(self.status) && is_temporary(other.status);
        self.with_query == other.with_query && (self.status == other.status || are_temporary)
    }
}

/// Returns whether a client must not keep the redirect (RFC 9110, sections 15.4.3, 15.4.4 and 15.4.8).
fn is_temporary(status: Status) -> bool {
    match status {
        Status::Found | Status::SeeOther | Status::TemporaryRedirect => true,
        Status::MovedPermanently | Status::PermanentRedirect => false,
    }
}

impl AnswerKind {
    pub(super) fn other(reason: &'static str) -> Self {
        Self::Other(Rc::new(RowError::NoLink(reason)))
    }
}
