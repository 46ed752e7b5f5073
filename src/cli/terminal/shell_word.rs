//! Texts in commands that a person copies to a shell, or that a program gives to one.

use std::borrow::Cow;

/// Returns a text as one word of a POSIX shell, quoted if need be.
pub(crate) fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("'{}'", text.replace('\'', "'\\''"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_change_is_quoted() {
        for (text, word) in [
            ("/usr/bin/waypost", "/usr/bin/waypost"),
            ("Größe/日本", "Größe/日本"),
            ("a b", "'a b'"),
            ("~a", "'~a'"),
            ("it's $x", "'it'\\''s $x'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }
}
