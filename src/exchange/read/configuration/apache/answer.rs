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
    /// A redirect to the same path with a slash after it, or without.
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

impl Answer {
    /// Returns what a link answers, if this is that.
    pub(super) fn of_link(&self) -> Option<AnswerKind> {
        let is_link = matches!(self.kind, AnswerKind::Redirect(_) | AnswerKind::Gone);
        is_link.then(|| self.kind.clone())
    }
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

    /// Returns whether an entry with variants whose own location is `entry` can lead here: the statuses may
    /// differ if both are temporary, and the use of the query if this URL has a fragment.
    pub(super) fn fits(&self, entry: &Self) -> bool {
        let are_temporary = is_temporary(self.status) && is_temporary(entry.status);
        let is_query_alike = self.has_fragment() || self.with_query == entry.with_query;
        is_query_alike && (self.status == entry.status || are_temporary)
    }

    /// Takes the use of the query from the first of some locations whose URL has no fragment.
    pub(super) fn use_query_as<'l>(&mut self, all: impl IntoIterator<Item = &'l Self>) {
        if let Some(found) = all.into_iter().find(|it| !it.has_fragment()) {
            self.with_query = found.with_query;
        }
    }

    /// Returns whether the URL has a fragment, to which Apache would append the query.
    pub(super) fn has_fragment(&self) -> bool {
        self.url.contains('#')
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
