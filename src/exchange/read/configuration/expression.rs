//! Regular expressions for a single text: anchored at both ends, without alternatives.

/// The characters that have a special meaning unless a backslash precedes them.
const SPECIAL: &str = ".+*?()[]{}|^$";

/// Returns the only text that an expression matches, without an optional slash at its start or end.
pub(super) fn text_of(expression: &str) -> Option<String> {
    let inner = expression.strip_prefix('^')?.strip_suffix('$')?;
    let inner = inner.strip_suffix("/?").unwrap_or(inner);
    let inner = match inner.strip_prefix("/?") {
        Some(rest) => format!("/{rest}"),
        None => inner.to_owned(),
    };
    let mut text = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            // Before a letter or a digit, a backslash begins a class or a reference.
            '\\' => text.push(chars.next().filter(|c| !c.is_alphanumeric())?),
            c if SPECIAL.contains(c) => return None,
            c => text.push(c),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::text_of;

    #[test]
    fn one_text_is_distinguished_from_many() {
        for (expression, text) in [
            ("^/a\\.b\\+$", "/a.b+"),
            ("^/a/?$", "/a"),
            ("^/?a$", "/a"),
            ("^a-b_c~$", "a-b_c~"),
        ] {
            assert_eq!(text_of(expression).as_deref(), Some(text));
        }
        for many in [
            "/a", "^/a", "/a$", "^/a.b$", "^/(a|b)$", "^/\\d$", "^/a\\$", "^$$", "$",
        ] {
            assert_eq!(text_of(many), None, "{many}");
        }
    }
}
