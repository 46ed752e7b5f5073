//! Values in Markdown: neither formatting, nor a link, nor a mention.

use std::fmt::Write as _;

use crate::cli::terminal::legible;

/// How many characters of a value are shown.
const MAX_VALUE: usize = 200;

/// Returns a value as an element from which its text cannot escape.
pub(crate) fn code(value: &str) -> String {
    let value = legible(value);
    let mut text = String::from("<code>");
    for (number, character) in value.chars().enumerate() {
        if number == MAX_VALUE {
            text.push('…');
            break;
        }
        match character {
            ' ' | '/' | '-' | '0'..='9' | 'a'..='z' | 'A'..='Z' => text.push(character),
            _ if !character.is_ascii() => text.push(character),
            _ => {
                let _ = write!(text, "&#{};", u32::from(character));
            }
        }
    }
    text + "</code>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_a_value() {
        let shown = code("a|b`c</code><img src=x>@all #1 www.x.example [l](u)\n:tada: \\| *_~");
        let inner = shown
            .strip_prefix("<code>")
            .and_then(|rest| rest.strip_suffix("</code>"));
        let plain = |c: char| c.is_ascii_alphanumeric() || " /-&#;".contains(c);
        assert!(inner.unwrap().chars().all(plain), "{shown}");
        assert!(!shown[6..].contains("#1 "), "{shown}");
    }

    #[test]
    fn what_is_long_is_cut() {
        let shown = code(&"é".repeat(10_000));
        assert_eq!(
            shown.chars().count(),
            MAX_VALUE + "<code>…</code>".chars().count()
        );
    }
}
