//! Request paths: from what a client sent to what a code is compared with.
//!
//! Each segment is percent-decoded once and brought to NFC; slashes are never merged.
//! An encoded slash is part of its segment, so no code that holds one can match it.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A decoded path, or a part of one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded<'r> {
    text: Cow<'r, str>,
    /// A slash in it was percent-encoded.
    encoded_slash: bool,
}

impl<'r> Decoded<'r> {
    /// Decodes; `None` for invalid UTF-8 and control characters, which no code and no forwarded
    /// path may hold.
    pub(super) fn new(raw: &'r str) -> Option<Self> {
        // As almost every path is: what stands in it means itself.
        if raw
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'%')
        {
            return Some(Self {
                text: Cow::Borrowed(raw),
                encoded_slash: false,
            });
        }
        let text = if raw.contains('%') {
            percent_decode_str(raw).decode_utf8().ok()?
        } else {
            Cow::Borrowed(raw)
        };
        if text.chars().any(char::is_control) {
            return None;
        }
        // A slash is a starter that composes with nothing: the whole may be normalised at once.
        let text = if text.is_ascii() || is_nfc(&text) {
            text
        } else {
            Cow::Owned(text.nfc().collect())
        };
        let slashes = |text: &str| text.bytes().filter(|&b| b == b'/').count();
        Some(Self {
            encoded_slash: matches!(text, Cow::Owned(_)) && slashes(&text) != slashes(raw),
            text,
        })
    }

    /// Returns the text that may be a code: `None` if a segment holds a slash.
    pub(super) fn as_code(&self) -> Option<&str> {
        (!self.encoded_slash).then_some(&*self.text)
    }

    /// Returns the text with every slash, encoded or not.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

/// Tells whether any segment, once decoded and split at `/` and `\`, is `.` or `..`: a client
/// would walk up the target's path.
pub(super) fn has_dot_segments(raw: &str) -> bool {
    let is_dots = |segment: &str| segment == "." || segment == "..";
    match percent_decode_str(raw).decode_utf8() {
        Ok(text) => text.split(['/', '\\']).any(is_dots),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_once() {
        let decoded = Decoded::new("%67nu%252F").unwrap();
        assert_eq!(decoded.as_code(), Some("gnu%2F"));
    }

    #[test]
    fn normalises_to_nfc() {
        for raw in ["e%CC%81t%C3%A9", "%C3%A9t%C3%A9", "été"] {
            assert_eq!(Decoded::new(raw).unwrap().as_code(), Some("été"));
        }
    }

    #[test]
    fn an_encoded_slash_is_no_separator() {
        let decoded = Decoded::new("a%2Fb/c").unwrap();
        assert_eq!(decoded.as_code(), None);
        assert_eq!(decoded.as_str(), "a/b/c");
    }

    #[test]
    fn what_no_code_can_hold_is_nothing() {
        for raw in ["%00", "a%0Ab", "%7f", "%C2%85", "%ff", "%C3", "a\u{1}"] {
            assert_eq!(Decoded::new(raw), None, "{raw}");
        }
    }

    #[test]
    fn finds_dot_segments_however_they_are_written() {
        for raw in [
            ".",
            "..",
            "a/../b",
            "%2e%2E",
            "a%2F..%2Fb",
            "a\\..",
            "a%5C..%5Cb",
            "%ff",
        ] {
            assert!(has_dot_segments(raw), "{raw}");
        }
        for raw in ["", "...", "a.b", "..a/b..", "%252e%252e"] {
            assert!(!has_dot_segments(raw), "{raw}");
        }
    }
}
