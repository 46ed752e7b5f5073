//! The lines of an Apache configuration, and their words.

use std::borrow::Cow;

/// Returns the lines of a file without their line breaks, each that ends in a backslash joined with
/// the next one, under the number of the first.
pub(crate) fn joined_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Cow<'_, [u8]>)> {
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
    let mut lines = lines.map(|(line, number)| (number, line.strip_suffix(b"\r").unwrap_or(line)));
    std::iter::from_fn(move || {
        let (number, line) = lines.next()?;
        let mut whole = Cow::Borrowed(line);
        while whole.ends_with(b"\\") {
            let whole = whole.to_mut();
            whole.pop();
            whole.extend(lines.next().map_or(&b""[..], |(_, next)| next));
        }
        Some((number, whole))
    })
}

/// Splits a line at ASCII white space outside quotes, the only one that Apache knows. A backslash keeps a quote
/// from ending a word, but not in a rule, where it keeps white space from separating words; else it is literal
/// in a rule, whose parts have escapes of their own.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = line.trim_matches(is_space);
    if rest.starts_with('#') {
        return words;
    }
    while !rest.is_empty() {
        let name = words.first().map(|name| name.to_ascii_lowercase());
        let is_raw = matches!(name.as_deref(), Some("rewriterule" | "rewritecond"));
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let mut word = String::new();
        let mut chars = rest[quote.map_or(0, char::len_utf8)..].chars();
        while let Some(c) = chars.next() {
            let next = chars.clone().next();
            match (c, quote) {
                (c, Some(quote)) if c == quote => break,
                (c, None) if is_space(c) => break,
                ('\\', None) if is_raw && next.is_some_and(is_space) => {
                    word.extend(chars.next());
                }
                ('\\', _) if is_raw && next.is_some() && next != quote => {
                    word.push(c);
                    word.extend(chars.next());
                }
                ('\\', _) if is_raw => word.push(c),
                ('\\', _) if next == Some('\\') || next.is_some() && next == quote => {
                    word.extend(chars.next());
                }
                _ => word.push(c),
            }
        }
        words.push(word);
        rest = chars.as_str().trim_start_matches(is_space);
    }
    words
}

/// Returns the flags of a rule, each with its value, as Apache separates them; `None` without the brackets around
/// them.
pub(crate) fn flags(text: &str) -> Option<impl Iterator<Item = (&str, Option<&str>)>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    Some(inner.split(',').map(|flag| {
        // White space around `=` is a part of the name, or of the value.
        let flag = flag.trim_matches(is_space);
        match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        }
    }))
}

fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}
