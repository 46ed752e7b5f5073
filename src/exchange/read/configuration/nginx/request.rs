//! A request as directives see it.

use crate::exchange::read::configuration::pattern::Groups;

/// A request, and what the preceding directives made of it.
#[derive(Clone)]
pub(super) struct Request<'r> {
    /// The path, decoded, with the slash before it.
    pub(super) path: &'r str,
    /// The query, without its question mark.
    pub(super) query: &'r str,
    /// What the last expression matched; `None` if it is not known which that is.
    pub(super) groups: Option<Groups>,
    /// The line of the value in a map because of which a condition is fulfilled.
    pub(super) value_line: Option<usize>,
}

impl<'r> Request<'r> {
    /// Returns a request of a client.
    pub(super) fn of(path: &'r str, query: &'r str) -> Self {
        Self {
            path,
            query,
            groups: Some(Groups::new()),
            value_line: None,
        }
    }
}
