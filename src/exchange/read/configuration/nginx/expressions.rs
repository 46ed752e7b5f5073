//! The expressions of nginx.

use crate::exchange::read::configuration::pattern::Pattern;

/// Reads an expression, in which an exclamation mark first has no meaning of its own.
pub(super) fn expression(text: &str, is_folded: bool) -> Pattern {
    match text.starts_with('!') {
        true => Pattern::parse(&format!("(?:{text})"), is_folded),
        false => Pattern::parse(text, is_folded),
    }
}
