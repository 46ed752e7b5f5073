//! The text of an expression of PCRE, before it is parsed: what might be read differently, and what can be
//! left out if that only makes it match more.

/// Texts whose meaning differs between PCRE and Rust inside a class of characters.
const AMBIGUOUS: [&str; 4] = ["&&", "--", "~~", "[["];

/// Returns an expression without its assertions about what is before or after, and with any text in the
/// place of a reference to a group: it matches at least the same paths. `None` if it has none of these, or
/// might be read differently.
pub(super) fn without_assertions(text: &str) -> Option<String> {
    const ASSERTIONS: [&str; 4] = ["(?!", "(?=", "(?<!", "(?<="];
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.char_indices().peekable();
    let mut is_class = false;
    // How many parentheses are open in an assertion.
    let mut skipped = 0_usize;
    let mut is_changed = false;
    if text.contains("[]") || text.contains("[^]") {
        return None;
    }
    while let Some((at, c)) = chars.next() {
        let start = kept.len();
        match c {
            '\\' => {
                let (_, next) = chars.next()?;
                if matches!(next, '1'..='9') && !is_class {
                    // Two digits may be an octal number.
                    if chars.peek().is_some_and(|(_, c)| c.is_ascii_digit()) {
                        return None;
                    }
                    kept += "(?s:.*)";
                    is_changed = true;
                } else {
                    kept.extend([c, next]);
                }
            }
            '[' if !is_class => {
                is_class = true;
                kept.push(c);
            }
            ']' if is_class => {
                is_class = false;
                kept.push(c);
            }
            '(' if !is_class
                && (skipped > 0 || ASSERTIONS.iter().any(|it| text[at..].starts_with(it))) =>
            {
                skipped += 1;
                is_changed = true;
            }
            ')' if !is_class && skipped > 0 => {
                skipped -= 1;
                // A repetition of the assertion needs something to repeat.
                if skipped == 0 {
                    kept += "(?:)";
                    continue;
                }
            }
            c => kept.push(c),
        }
        if skipped > 0 {
            kept.truncate(start);
        }
    }
    is_changed.then_some(kept)
}

/// Returns whether an expression has a class of characters, and somewhere a text that might be read
/// differently in one.
pub(super) fn has_ambiguous_class(text: &str) -> bool {
    let mut chars = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
                plain.push(' ');
            }
            c => plain.push(c),
        }
    }
    let plain = plain.replace("[[:", "[");
    plain.contains('[') && AMBIGUOUS.iter().any(|it| plain.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_without_assertions_matches_more() {
        for (text, wider) in [
            ("^(?!a)b$", Some("^(?:)b$")),
            ("a(?=(b|c)[)]\\))+d", Some("a(?:)+d")),
            ("(?<!a)(?<=b)(c)\\1", Some("(?:)(?:)(c)(?s:.*)")),
            ("[(?!]\\(?!", None),
            ("(?!a)[]b]", None),
            ("(?!a)\\12", None),
            ("^(a)$", None),
        ] {
            assert_eq!(without_assertions(text).as_deref(), wider, "{text}");
        }
    }
}
