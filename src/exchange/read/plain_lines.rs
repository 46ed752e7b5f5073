//! Peculiarities of spreadsheets: their own line breaks, and a first line that names the separator.

use std::borrow::Cow;

/// Returns a text with line feeds if all its line breaks are lone carriage returns, and with a
/// blank line instead of a first one such as `sep=;`, so that lines keep their numbers.
pub fn in_plain_lines(mut text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if text.contains(&b'\r') && !text.contains(&b'\n') {
        for byte in text.to_mut().iter_mut().filter(|byte| **byte == b'\r') {
            *byte = b'\n';
        }
    }
    let unmarked = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
    let names_separator = matches!(
        unmarked,
        [
            b's' | b'S',
            b'e' | b'E',
            b'p' | b'P',
            b'=',
            b',' | b';' | b'\t',
            b'\r' | b'\n',
            ..
        ]
    );
    if names_separator {
        let rest = text.len() - unmarked.len() + "sep=;".len();
        text.to_mut().drain(..rest);
    }
    text
}

/// Returns whether bytes are free of control characters that only other kinds of files, or damaged
/// ones, contain.
pub fn is_text(bytes: &[u8]) -> bool {
    let is_of_text = |byte: &u8| !byte.is_ascii_control() || b"\t\r\n\x0C".contains(byte);
    bytes.iter().all(is_of_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &[u8]) -> String {
        String::from_utf8(in_plain_lines(Cow::Borrowed(text)).into_owned()).unwrap()
    }

    #[test]
    fn lines_end_in_line_feeds_and_begin_with_rows() {
        assert_eq!(plain(b"slug,url\ra,x\r"), "slug,url\na,x\n");
        assert_eq!(
            plain(b"slug,url\r\na,\"x\ry\"\r\n"),
            "slug,url\r\na,\"x\ry\"\r\n"
        );
        assert_eq!(plain(b"sep=;\r\nslug;url\r\n"), "\r\nslug;url\r\n");
        assert_eq!(plain(b"\xEF\xBB\xBFSEP=,\nslug,url\n"), "\nslug,url\n");
        for kept in ["sep=;x\n", "sep=;", "sep,url\n", ""] {
            assert_eq!(plain(kept.as_bytes()), kept);
        }
    }

    #[test]
    fn what_is_no_text_is_known() {
        assert!(is_text("slug\turl\r\né\n".as_bytes()));
        assert!(!is_text(b"slug\0url"));
        assert!(!is_text(b"PK\x03\x04"));
    }
}
