//! The text of an expression of PCRE: what might be read differently, what it refuses, and what can be left
//! out if that only makes it match more.

use std::iter;

use regex_syntax::ast::ErrorKind;
use regex_syntax::ast::parse::Parser;

/// Texts whose meaning differs between PCRE and Rust inside a class of characters.
const AMBIGUOUS_IN_CLASSES: [&str; 4] = ["&&", "--", "~~", "["];

/// Texts whose meaning differs outside of classes, or that only Rust knows: repetitions without backtracking,
/// and repeated ones.
const AMBIGUOUS_OUTSIDE: [&str; 8] = ["*+", "++", "?+", "}+", "**", "+*", "?*", "{ "];

/// Texts whose meaning differs anywhere, or that only Rust knows.
const AMBIGUOUS: [&str; 5] = ["\\<", "\\>", "\\b{", "\\u", "\\U"];

/// Texts that PCRE refuses, because they are escapes of other programs.
const REFUSED: [&str; 4] = ["\\u", "\\U", "\\l", "\\L"];

/// Flags in parentheses whose meaning differs, or that only Rust knows.
const AMBIGUOUS_FLAGS: [char; 2] = ['R', 'u'];

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

/// Returns whether PCRE might read an expression differently.
pub(super) fn is_ambiguous(text: &str) -> bool {
    pieces(text).any(|Piece { text, is_class }| {
        let starts_with = |texts: &[&str]| texts.iter().any(|it| text.starts_with(it));
        starts_with(&AMBIGUOUS)
            || starts_with(if is_class {
                &AMBIGUOUS_IN_CLASSES
            } else {
                &AMBIGUOUS_OUTSIDE
            })
            || !is_class && flags(text).contains(AMBIGUOUS_FLAGS)
    })
}

/// Returns whether PCRE refuses an expression: for a parenthesis without its partner, a repetition of nothing
/// or of a repetition, or what only other programs know.
pub(super) fn is_refused(text: &str) -> bool {
    if has_refused_text(text) {
        return true;
    }
    if is_ambiguous(text) {
        return false;
    }
    let Err(error) = Parser::new().parse(text) else {
        return false;
    };
    match error.kind() {
        ErrorKind::GroupUnclosed | ErrorKind::GroupUnopened => true,
        ErrorKind::RepetitionMissing => {
            // PCRE takes a brace for itself, and `(*` for the start of a verb.
            let before = &text[..error.span().start.offset];
            let repeated = &text[error.span().start.offset..];
            repeated.starts_with(['*', '+', '?']) && !before.ends_with('(')
        }
        _ => false,
    }
}

/// Returns whether an expression has a text that PCRE refuses wherever it occurs.
fn has_refused_text(text: &str) -> bool {
    let mut is_after_parenthesis = false;
    pieces(text).any(|Piece { text, is_class }| {
        let starts_with = |texts: &[&str]| texts.iter().any(|it| text.starts_with(it));
        // `(?*` is an assertion.
        let is_repeated =
            starts_with(&["**", "+*"]) || starts_with(&["?*"]) && !is_after_parenthesis;
        is_after_parenthesis = text.starts_with('(');
        starts_with(&REFUSED)
            || !is_class && (is_repeated || flags(text).contains('u') || is_class_name(text))
    })
}

/// Returns whether a text begins as `[:alpha:]` does.
fn is_class_name(text: &str) -> bool {
    let name = text.strip_prefix("[:").and_then(|it| it.split_once(":]"));
    name.is_some_and(|(name, _)| name.chars().all(|it| it.is_ascii_lowercase() || it == '^'))
}

/// A character of an expression, or one with the backslash before it, and all that follows.
struct Piece<'a> {
    text: &'a str,
    is_class: bool,
}

/// Returns the pieces of an expression, without the names of classes.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut is_class = false;
    let mut at = 0;
    iter::from_fn(move || {
        while is_class && text[at..].starts_with("[:") {
            let end = text[at..].find(":]");
            at += end.map_or(1, |it| it + 2);
        }
        let piece = Piece {
            text: &text[at..],
            is_class,
        };
        let c = piece.text.chars().next()?;
        at += c.len_utf8();
        match c {
            '\\' => at += text[at..].chars().next().map_or(0, char::len_utf8),
            '[' if !is_class => {
                is_class = true;
                // A bracket at the start of a class does not end it.
                let start = text[at..].strip_prefix('^').unwrap_or(&text[at..]);
                at = text.len() - start.strip_prefix(']').unwrap_or(start).len();
            }
            ']' if is_class => is_class = false,
            _ => {}
        }
        Some(piece)
    })
}

/// Returns the flags at the start of a text, as in `(?i-s)` and `(?i:`.
fn flags(text: &str) -> &str {
    let flags = text.strip_prefix("(?").unwrap_or_default();
    let end = flags.find(|it: char| !it.is_ascii_alphanumeric() && it != '-');
    &flags[..end.unwrap_or(flags.len())]
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

    #[test]
    fn what_pcre_may_read_differently_is_known() {
        for (text, is_expected) in [
            ("^[a[b]c]$", true),
            ("[[a]", true),
            ("[a-z&&[^b]]", true),
            ("[a--b]", true),
            ("\\<a", true),
            ("\\bab", false),
            ("\\b{start}a", true),
            ("\\u0061", true),
            ("(?R)a", true),
            ("(?i-u:a)", true),
            ("a{ 2}", true),
            ("^a*+b$", true),
            ("^(a)++b$", true),
            ("a{2}+", true),
            ("a**", true),
            ("a\\++[*+]+?", false),
            ("a&&b--c~~", false),
            ("[[:alpha:]_]", false),
            ("[[:alpha:]&&b]", true),
            ("[]a]--", false),
            ("[^]a]--", false),
            ("\\[a--b", false),
            ("[\\]&]&&", false),
            ("(?i)(?<name>R)(?:u)", false),
            ("é[é-ü]", false),
        ] {
            assert_eq!(is_ambiguous(text), is_expected, "{text}");
        }
    }

    /// What Apache 2.4, with PCRE2 10.42, answered to any request: 500 or not.
    #[test]
    fn what_pcre_refuses_is_known() {
        for (text, is_expected) in [
            ("^(a$", true),
            ("^a)$", true),
            ("^a|*b$", true),
            ("^(?:a|+b)$", true),
            ("*", true),
            ("^a**$", true),
            ("^a+*$", true),
            ("^a?*$", true),
            ("^[a]**$", true),
            ("^\\u0061$", true),
            ("^[\\u0061]$", true),
            ("^[:alpha:]$", true),
            ("^(?i-u:a)$", true),
            ("^(?u)a$", true),
            ("^\\**$", false),
            ("^[*]*$", false),
            ("^[**]$", false),
            ("^[[:alpha:]]*$", false),
            ("^a*+$", false),
            ("^a*?$", false),
            ("^\\\\u$", false),
            ("^(a)$", false),
            ("^a{$", false),
            ("^{a}$", false),
            ("^\\(a$", false),
            ("^[(]a$", false),
            ("^(?=a)b$", false),
            ("^(a)\\1$", false),
        ] {
            assert_eq!(is_refused(text), is_expected, "{text}");
        }
    }
}
