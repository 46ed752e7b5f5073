//! Quotes of comma-separated values (RFC 4180, section 2): a field with quotes around it ends at a quote
//! that is not doubled.
//!
//! A lenient reader takes text after such a quote as well. So if a field that begins with a quote by accident
//! is read, it ends somewhere at a quote of another row, and all rows between are lost without a trace.

use csv::{ByteRecord, ReaderBuilder};

/// Returns whether no rows can be lost by the quotes of a record, given its raw text: each quoted field ends
/// before a delimiter or at the end, and none contains whole rows of as many fields as the record has.
pub(super) fn are_sound(record: &[u8], delimiter: u8) -> bool {
    let mut fields = 0;
    let mut has_breaks = false;
    let mut rest = record;
    loop {
        fields += 1;
        let after = match rest.strip_prefix(b"\"") {
            Some(text) => {
                let Some(length) = closing(text) else {
                    return false;
                };
                has_breaks |= text[..length].contains(&b'\n');
                &text[length + 1..]
            }
            None => {
                let is_end = |byte: &u8| *byte == delimiter || is_break(*byte);
                let end = rest.iter().position(is_end);
                &rest[end.unwrap_or(rest.len())..]
            }
        };
        match after.first() {
            Some(&byte) if byte == delimiter => rest = &after[1..],
            None => break,
            Some(&byte) if is_break(byte) => break,
            Some(_) => return false,
        }
    }
    !has_breaks || !contains_rows(record, delimiter, fields)
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

/// Returns whether a line inside a record is a row by itself: it has as many fields, and one is a URL.
fn contains_rows(record: &[u8], delimiter: u8, fields: usize) -> bool {
    let mut lines = record.split(|byte| *byte == b'\n');
    // The first and the last one have a part of the record's own fields.
    lines.next();
    let mut lines = lines.collect::<Vec<_>>();
    lines.pop();
    let mut row = ByteRecord::new();
    fields > 1
        && lines.into_iter().any(|line| {
            let mut reader = ReaderBuilder::new()
                .has_headers(false)
                .delimiter(delimiter)
                .from_reader(line);
            matches!(reader.read_byte_record(&mut row), Ok(true))
                && row.len() == fields
                && row.iter().any(is_url)
        })
}

fn is_url(field: &[u8]) -> bool {
    field.starts_with(b"http://") || field.starts_with(b"https://")
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
            "a,\"two\nlines, and more\nlines\"\n",
        ] {
            assert!(are_sound(sound.as_bytes(), b','), "{sound}");
        }
        for lost in [
            "a,\"27 inch\nb,https://e.example/,the \"new\" one\n",
            "a,\"27 inch\n",
            "\"a\" b,c\n",
            "a,https://e.example/a,\"27 inch\nb,https://e.example/b,x\nc,https://e.example/c,28\"\n",
        ] {
            assert!(!are_sound(lost.as_bytes(), b','), "{lost}");
        }
        assert!(are_sound(b"\"a\";b", b';'));
        assert!(!are_sound(b"\"a\",b;c", b';'));
    }
}
