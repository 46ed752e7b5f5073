//! The expressions of nginx.

use crate::exchange::read::configuration::pattern::{Letters, Pattern};

/// Reads an expression, in which an exclamation mark first has no meaning of its own.
pub(super) fn expression(text: &str, is_folded: bool) -> Pattern {
    let letters = match is_folded {
        true => Letters::Folded,
        false => Letters::Exact,
    };
    match text.starts_with('!') {
        true => Pattern::parse(&format!("(?:{text})"), letters),
        false => Pattern::parse(text, letters),
    }
}
