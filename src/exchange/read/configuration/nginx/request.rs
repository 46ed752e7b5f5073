//! A request as directives see it.

use crate::exchange::read::configuration::pattern::Groups;

/// A request, and what the preceding directives made of it.
#[derive(Clone)]
pub(super) struct Request<'r> {
    /// The path, decoded, with the slash before it.
    pub(super) path: &'r str,
    /// The query, without its question mark.
    pub(super) query: &'r str,
    /// What the last expression matched.
    pub(super) groups: Groups,
    /// The line of the value in a map because of which a condition is fulfilled.
    pub(super) value_line: Option<usize>,
}
