//! Scalars: how a text is written as YAML, as a value in a block or as an item in brackets.
//!
//! Text is unquoted where every reader of YAML then reads it as that text.

use super::ambiguity::is_ambiguous;
use crate::mapping::ScalarForm;

/// Writes a list in brackets, unless it is empty.
pub(super) fn list<'a>(texts: impl Iterator<Item = &'a str>) -> Option<String> {
    let items: Vec<_> = texts.map(item).collect();
    (!items.is_empty()).then(|| format!("[{}]", items.join(", ")))
}

/// Writes a text as a value in a block.
pub(crate) fn scalar(text: &str) -> String {
    match is_plain(text) && !is_ambiguous(text) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// Writes a text as an item in brackets, where more characters are special.
pub(super) fn item(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || "._~/-".contains(c);
    match text.starts_with('-') || !text.chars().all(is_word) {
        true => quoted(text),
        false => scalar(text),
    }
}

/// Returns whether a text can be a plain scalar (YAML 1.2.2 section 7.3.3), slightly narrower where
/// that is simpler.
fn is_plain(text: &str) -> bool {
    let mut chars = text.chars();
    let begins = match chars.next() {
        Some('-') => chars
            .next()
            .is_some_and(|c| c.is_alphanumeric() || "-_".contains(c)),
        Some(first) => first.is_alphanumeric() || "/._~(".contains(first),
        None => false,
    };
    begins
        && !text.contains(is_odd)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([':', ' '])
}

/// Writes a text in quotes: double ones, or single ones if that avoids escapes.
fn quoted(text: &str) -> String {
    match text.contains(['"', '\\']) && !text.contains(is_odd) {
        true => single_quoted(text),
        false => double_quoted(text),
    }
}

/// Writes a text as a value in the form that the value before it has, if it can be.
pub(super) fn like(form: ScalarForm, text: &str, is_flow: bool) -> String {
    match form {
        ScalarForm::Single if !text.contains(is_odd) => single_quoted(text),
        ScalarForm::Single | ScalarForm::Double => double_quoted(text),
        ScalarForm::Plain | ScalarForm::Block if is_flow => item(text),
        ScalarForm::Plain | ScalarForm::Block => scalar(text),
    }
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            // All of them have four digits.
            c if is_odd(c) => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns whether a character is a control, or is treated as one by some version of YAML.
fn is_odd(c: char) -> bool {
    let breaks = ['\u{2028}', '\u{2029}', '\u{feff}', '\u{fffe}', '\u{ffff}'];
    c.is_control() || breaks.contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_written_where_needed() {
        for (text, written) in [
            ("a b", "a b"),
            ("C#", "C#"),
            ("a #b", "\"a #b\""),
            ("12:30", "\"12:30\""),
            ("-55yIza0", "-55yIza0"),
            ("- a", "\"- a\""),
            ("say \"no\"", "say \"no\""),
            ("\"no\", it's", "'\"no\", it''s'"),
            ("two\nlines\\", "\"two\\u000alines\\\\\""),
            ("https://e.org/a:", "\"https://e.org/a:\""),
            ("", "\"\""),
        ] {
            assert_eq!(scalar(text), written);
        }
    }
}
