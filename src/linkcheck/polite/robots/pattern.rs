//! Paths of a robots.txt, and how they match those of URLs (RFC 9309, sections 2.2.2 and 2.2.3).
//!
//! Both are compared in one normal form, in which each octet is written in one way only.
//!
//! The patterns of allowed signers (`git/signatures/signer_options.rs`) have another syntax: they have
//! `?` and no `$`, match whole texts, and encode nothing. So the two share no matcher.

use memchr::memmem;
use serde::{Deserialize, Serialize};

/// A path with wildcards, in normal form: `*` matches any octets, a final `$` for the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PathPattern(String);

impl PathPattern {
    /// Reads the value of a rule. Returns `None` if it can match no path.
    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        let anchored = value.last() == Some(&b'$');
        let path = if anchored {
            &value[..value.len() - 1]
        } else {
            value
        };
        if !matches!(path.first(), Some(b'/' | b'*')) {
            return None;
        }
        let mut normal = normalise(path, Asterisk::Wildcard);
        if anchored {
            normal.push('$');
        }
        Some(Self(normal))
    }

    /// Returns the pattern that matches each path.
    pub(super) fn everything() -> Self {
        Self("/".to_owned())
    }

    /// Returns how specific it is: its length in octets.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether it matches a path in normal form, in time that is linear for each `*`.
    pub(super) fn matches(&self, path: &str) -> bool {
        let (pattern, anchored) = match self.0.strip_suffix('$') {
            Some(pattern) => (pattern, true),
            None => (self.0.as_str(), false),
        };
        let (first, rest) = match pattern.split_once('*') {
            Some((first, rest)) => (first, Some(rest)),
            None => (pattern, None),
        };
        let Some(mut path) = path.as_bytes().strip_prefix(first.as_bytes()) else {
            return false;
        };
        let Some(rest) = rest else {
            return !anchored || path.is_empty();
        };
        let (between, last) = rest.rsplit_once('*').unwrap_or(("", rest));
        for piece in between.split('*') {
            // The leftmost match leaves the most for the rest.
            let Some(at) = memmem::find(path, piece.as_bytes()) else {
                return false;
            };
            path = &path[at + piece.len()..];
        }
        if anchored {
            path.ends_with(last.as_bytes())
        } else {
            memmem::find(path, last.as_bytes()).is_some()
        }
    }
}

/// Returns the path and query of a URL in normal form.
pub(super) fn normal_path(path: &[u8]) -> String {
    normalise(path, Asterisk::Literal)
}

/// What a `*` means that is not encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asterisk {
    Wildcard,
    Literal,
}

/// Writes each octet in one way: unreserved ones as they are, all others that are no delimiter
/// percent-encoded. In a query, delimiters without a meaning there are the same encoded or not, as
/// in the RFC's example.
///
/// A `*` that is not a wildcard and a `$` are encoded, so that no pattern interprets them.
fn normalise(octets: &[u8], asterisk: Asterisk) -> String {
    let mut normal = String::with_capacity(octets.len());
    let mut in_query = false;
    let mut rest = octets;
    while let [octet, after @ ..] = rest {
        let (octet, encoded) = match *rest {
            [b'%', high, low, ..] => match (hex(high), hex(low)) {
                (Some(high), Some(low)) => {
                    rest = &rest[3..];
                    (high << 4 | low, true)
                }
                _ => {
                    rest = after;
                    (*octet, false)
                }
            },
            _ => {
                rest = after;
                (*octet, false)
            }
        };
        let kept = match octet {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => true,
            b'*' => asterisk == Asterisk::Wildcard && !encoded,
            b'/' | b':' | b'?' | b'@' | b'\'' => in_query || !encoded,
            b'#' | b'[' | b']' | b'!' | b'&' | b'(' | b')' | b'+' | b',' | b';' | b'=' => !encoded,
            _ => false,
        };
        in_query |= octet == b'?' && !encoded;
        if kept {
            normal.push(char::from(octet));
        } else {
            const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
            let digits = [octet >> 4, octet & 15].map(|digit| DIGITS[usize::from(digit)]);
            normal.push('%');
            normal.extend(digits.map(char::from));
        }
    }
    normal
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn matches(pattern: &str, path: &str) -> bool {
        let pattern = PathPattern::parse(pattern.as_bytes()).unwrap();
        pattern.matches(&normal_path(path.as_bytes()))
    }

    #[test]
    fn the_rfc_s_table_of_encodings() {
        // Section 2.2.2: each pair is the same path.
        for (one, other) in [
            ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
            (
                "/foo/bar?baz=https://foo.bar",
                "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
            ),
            ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
            ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84"),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
            ("/a b|c", "/a%20b%7C%63"),
            ("/100%", "/100%25"),
            ("/%zz", "/%25zz"),
        ] {
            assert!(matches(&format!("{one}$"), other), "{one} {other}");
            assert!(matches(&format!("{other}$"), one), "{other} {one}");
        }
        // A delimiter of a path differs from its encoded form.
        assert!(!matches("/a%2Fb", "/a/b"));
        assert!(!matches("/a/b", "/a%2Fb"));
        assert!(!matches("/a", "/A"));
    }

    #[test]
    fn the_rfc_s_special_characters() {
        // Section 2.2.3.
        assert!(matches(
            "/path/file-with-a-%2A.html",
            "/path/file-with-a-*.html"
        ));
        assert!(!matches(
            "/path/file-with-a-%2A.html",
            "/path/file-with-a-x.html"
        ));
        assert!(matches("/path/foo-%24", "/path/foo-$"));
        assert!(!matches("/path/foo-%24", "/path/foo-"));
        assert!(matches("/this/*/exactly", "/this/is/it/exactly/so"));
        assert!(matches("/$", "/"));
        assert!(!matches("/$", "/a"));
    }

    #[test]
    fn the_patterns_of_the_field() {
        for (pattern, path, expected) in [
            ("/", "/x", true),
            ("/*", "/x", true),
            ("*", "/", true),
            ("/fish", "/fish.html", true),
            ("/fish", "/Fish.asp", false),
            ("/fish", "/?id=fish", false),
            ("/fish*", "/fishheads/yummy.html", true),
            ("/fish/", "/fish", false),
            ("/*.php", "/folder/filename.php?parameters", true),
            ("/*.php", "/windows.PHP", false),
            ("/*.php$", "/filename.php", true),
            ("/*.php$", "/filename.php?parameters", false),
            ("/*.php$", "/filename.php5", false),
            ("/fish*.php", "/fishheads/catfish.php?parameters", true),
            ("/fish*.php", "/Fish.PHP", false),
            ("/a*b*c$", "/abcbc", true),
            ("/a*b*c$", "/abcb", false),
            ("/a**b", "/axb", true),
            ("/a*$", "/abc", true),
            ("/a$b", "/a$b", true),
            ("/a$b", "/ab", false),
            ("/*/print", "/a?to=/print", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
        for nothing in ["", "$", "a", "http://e.example/", "%2F"] {
            assert_eq!(PathPattern::parse(nothing.as_bytes()), None, "{nothing}");
        }
    }
}
