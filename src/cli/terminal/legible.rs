//! Makes the text of a table safe to show to people.
//!
//! The author of a proposed link chooses its target and title, and so could move a reader's cursor,
//! change the direction of writing or hide text. Each such character is shown by its number.

use std::borrow::Cow;

use crate::server::shows_itself;

/// Returns a text in which every character is visible.
pub(crate) fn legible(text: &str) -> Cow<'_, str> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain || text.chars().all(shows_itself) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match shows_itself(character) {
            true => shown.push(character),
            false => shown.extend(character.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_itself_stays() {
        for text in ["", "a b", "été – 日本", "<b> | `x` @y"] {
            assert_eq!(legible(text), text);
        }
    }

    #[test]
    fn what_hides_or_misleads_is_reported() {
        assert_eq!(legible("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(legible("\u{202e}txt\n"), "\\u{202e}txt\\u{a}");
        assert_eq!(legible("a\u{200b}\u{a0}b"), "a\\u{200b}\\u{a0}b");
    }
}
