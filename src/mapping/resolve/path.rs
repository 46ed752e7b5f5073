//! Request paths: from the path that a client sent to the text for comparison with codes.
//!
//! Each segment is percent-decoded once and normalised to NFC; slashes are never merged. An encoded
//! slash is part of its segment, so no code that contains one can match it.

use std::borrow::Cow;

use percent_encoding::{percent_decode, percent_decode_str};
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A decoded path, or a part of one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded<'r> {
    text: Cow<'r, str>,
    /// Whether a slash in it was percent-encoded.
    encoded_slash: bool,
}

impl<'r> Decoded<'r> {
    /// Decodes a raw path; `None` for invalid UTF-8 and control characters, which no code and no
    /// forwarded path may contain.
    pub(crate) fn new(raw: &'r str) -> Option<Self> {
        // Almost every path is like this and needs no decoding. Without an early exit, so that the
        // compiler can vectorize it.
        let is_plain = |byte: u8| byte.is_ascii_graphic() & (byte != b'%');
        if raw.bytes().fold(true, |all, byte| all & is_plain(byte)) {
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
        // A slash is a starter that composes with nothing, so the whole may be normalised in one
        // step.
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

    /// Returns the text that may be a code; `None` if a segment contains a slash.
    pub(super) fn as_code(&self) -> Option<&str> {
        (!self.encoded_slash).then_some(&*self.text)
    }

    /// Returns the text with every slash, encoded or not.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

/// Returns whether any segment, decoded once or twice and split at `/` and `\`, is `.` or `..`,
/// with or without parameters after a `;`: a client, or a server that decodes or cuts once too
/// often, would walk up the target's path (decision 0016).
pub(super) fn has_dot_segments(raw: &str) -> bool {
    let once = Cow::from(percent_decode_str(raw));
    if !raw.contains('%') {
        return walks_up(&once);
    }
    if std::str::from_utf8(&once).is_err() || walks_up(&once) {
        return true;
    }
    once.contains(&b'%') && walks_up(&Cow::from(percent_decode(&once)))
}

fn walks_up(path: &[u8]) -> bool {
    let mut segments = path.split(|byte| matches!(byte, b'/' | b'\\'));
    segments.any(|segment| {
        let after = segment.strip_prefix(b".");
        let after = after.map(|rest| rest.strip_prefix(b".").unwrap_or(rest));
        matches!(after, Some([] | [b';', ..]))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            // A server that decodes twice, or cuts parameters off, would see them.
            "%252e%252E",
            ".%252e",
            "a%252F..%252Fb",
            "..%255c",
            "%5c..%5c",
            "..;",
            "a/.;x=y/b",
            "%2e%2e;x",
            "..%3b",
            "..%253Bx",
        ] {
            assert!(has_dot_segments(raw), "{raw}");
        }
        for raw in [
            "",
            "...",
            "a.b",
            "..a/b..",
            "%25252e%25252e",
            ";..",
            "a;/b",
            "...;",
            "..%20",
            "100%25",
            "%25ff",
        ] {
            assert!(!has_dot_segments(raw), "{raw}");
        }
    }

    /// Generates a dot segment with its parts encoded up to twice, and possible surroundings.
    fn hidden() -> impl Strategy<Value = String> {
        let encoded = |plain: char| {
            let hex = format!("{:02X}", plain as u32);
            let once = [plain.to_string(), format!("%{hex}")];
            let twice = [format!("%25{hex}"), format!("%25{}", hex.to_lowercase())];
            prop::sample::select([once, twice].concat())
        };
        let dots = prop::collection::vec(encoded('.'), 1..=2);
        let dots = dots.prop_map(|dots| dots.concat());
        let edge = || prop_oneof![Just("/".to_owned()), encoded('/'), encoded('\\')];
        let before = prop_oneof![
            Just(String::new()),
            ("[a-z%0-9.;]{0,6}", edge()).prop_map(|(it, edge)| it + &edge)
        ];
        let parameters = ("[a-z=;]{0,3}", encoded(';')).prop_map(|(it, mark)| mark + &it);
        let after = prop_oneof![
            Just(String::new()),
            (edge(), "[a-z%0-9.;]{0,6}").prop_map(|(edge, it)| edge + &it),
            parameters,
        ];
        (before, dots, after).prop_map(|(before, dots, after)| before + &dots + &after)
    }

    proptest! {
        #[test]
        fn no_dot_segment_is_hidden_by_encoding_it_twice(raw in hidden()) {
            prop_assert!(has_dot_segments(&raw), "{}", raw);
        }

        #[test]
        fn what_has_no_dots_is_no_dot_segment(raw in "[a-z0-9/;\\\\]{0,20}") {
            prop_assert!(!has_dot_segments(&raw), "{}", raw);
        }
    }
}
