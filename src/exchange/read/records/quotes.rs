//! Quotes of comma-separated values (RFC 4180, section 2): a field with quotes around it ends at a quote
//! that is not doubled.
//!
//! A lenient reader takes text after such a quote as well. So if a field that begins with a quote by accident
//! is read, it ends somewhere at a quote of another row, and all rows between are lost without a trace.

/// Returns whether no rows can be lost by the quotes of a record, given its raw text: each quoted field ends
/// before a delimiter or at the end, and none contains what may be rows.
pub(super) fn are_sound(record: &[u8], delimiter: u8) -> bool {
    let mut delimiters = 0;
    let mut most_in_a_line = 0;
    let mut rest = record;
    loop {
        let after = match rest.strip_prefix(b"\"") {
            Some(text) => {
                let Some(length) = closing(text) else {
                    return false;
                };
                let (text, after) = (&text[..length], &text[length + 1..]);
                if text.contains(&b'\n') {
                    if contains_url(text, delimiter) {
                        return false;
                    }
                    most_in_a_line = most_in_a_line.max(most_delimiters(text, delimiter));
                }
                after
            }
            None => {
                let is_end = |byte: &u8| *byte == delimiter || is_break(*byte);
                let end = rest.iter().position(is_end);
                &rest[end.unwrap_or(rest.len())..]
            }
        };
        match after.first() {
            Some(&byte) if byte == delimiter => {
                delimiters += 1;
                rest = &after[1..];
            }
            Some(&byte) if !is_break(byte) => return false,
            _ => return most_in_a_line == 0 || most_in_a_line < delimiters,
        }
    }
}

/// Returns the length of a quoted text up to the quote that closes it, if there is one.
fn closing(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let quote = from + text[from..].iter().position(|byte| *byte == b'"')?;
        match text.get(quote + 1) {
            Some(b'"') => from = quote + 2,
            _ => return Some(quote),
        }
    }
}

/// Returns whether a quoted text has a line with a URL between delimiters, as a row has it.
fn contains_url(text: &[u8], delimiter: u8) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n');
    lines.any(|line| {
        let has_fields = line.contains(&delimiter);
        has_fields && line.split(|byte| *byte == delimiter).any(is_url)
    })
}

/// Returns how many delimiters a line of a quoted text has at most.
fn most_delimiters(text: &[u8], delimiter: u8) -> usize {
    let lines = text.split(|byte| *byte == b'\n');
    let counts = lines.map(|line| memchr::memchr_iter(delimiter, line).count());
    counts.max().unwrap_or(0)
}

/// Returns whether a text is an absolute URL alone, with or without quotes.
fn is_url(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    let field = field.strip_prefix(b"\"").unwrap_or(field);
    let scheme = field.iter().position(|byte| !byte.is_ascii_alphabetic());
    scheme.is_some_and(|end| end > 0 && field[end..].starts_with(b"://"))
        && !field.iter().any(u8::is_ascii_whitespace)
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_ends_at_its_quote() {
        for sound in [
            "a,b",
            "\"a\",\"b\"\r\n",
            "\"a\n\"\"b\"\"\",c\n",
            "27\" inch,b\n",
            "a,\"\"\n",
            "a,b,\"two\nlines, and more\nlines\"\n",
            "a,b,\"two\nlines, see https://e.example/\"\n",
            "a,\"https://e.example/\nhttps://f.example/\"\n",
        ] {
            assert!(are_sound(sound.as_bytes(), b','), "{sound}");
        }
        for lost in [
            "a,\"27 inch\nb,https://e.example/,the \"new\" one\n",
            "a,\"27 inch\n",
            "\"a\" b,c\n",
            "a,https://e.example/a,\"27 inch\nb,https://e.example/b,x\nc,https://e.example/c,28\"\n",
            "a,\"x,https://e.example/a\nb,y\",https://e.example/b\n",
            "a,https://e.example/a,\"27 inch\nb,HTTPS://e.example/b,28\"\n",
            "a,https://e.example/a,\"27 inch\nb,www.e.example/b c,28\"\n",
        ] {
            assert!(!are_sound(lost.as_bytes(), b','), "{lost}");
        }
        assert!(are_sound(b"\"a\";b", b';'));
        assert!(!are_sound(b"\"a\",b;c", b';'));
    }
}
