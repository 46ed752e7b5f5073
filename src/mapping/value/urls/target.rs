//! Targets: the absolute `http` and `https` URLs that short links lead to.
//!
//! The WHATWG URL parser repairs much that a person may get wrong, as browsers do, but not every
//! client does: a link must mean the same to all of them. So anything that the parser merely
//! tolerates is refused here, with the reason.

use std::borrow::Cow;
use std::cell::RefCell;

use memchr::memchr;
use thiserror::Error;
use url::{Host, ParseError, SyntaxViolation, Url};

use super::caution::is_private;
use super::intended_url::{begins_with_scheme, has_second_scheme, intended_url};
use crate::mapping::value::diagnostics::Rule;

/// The maximum length of a target, in bytes. Common servers and clients refuse header lines not
/// much longer.
pub const MAX_TARGET_BYTES: usize = 8192;

/// A validated URL: absolute, `http` or `https`, WHATWG-serialised, ASCII, safe in a header.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target<'t>(Cow<'t, str>);

impl<'t> Target<'t> {
    /// Accepts a URL as a person wrote it.
    ///
    /// # Errors
    ///
    /// Returns the reason why the URL cannot be a target.
    pub fn parse(text: &'t str) -> Result<Self, TargetError> {
        if text.len() > MAX_TARGET_BYTES {
            return Err(TargetError::TooLong { bytes: text.len() });
        }
        if is_plainly_canonical(text) {
            return Ok(Self(Cow::Borrowed(text)));
        }
        if let Some(control) = text.chars().find(|c| c.is_control()) {
            return Err(TargetError::ControlCharacter { control });
        }
        if text.trim() != text {
            return Err(TargetError::SurroundingSpace);
        }
        let rest = after_scheme(text)?;
        let intended = || valid_intended_url(text);
        match rest.strip_prefix("//") {
            Some(rest) if has_second_scheme(rest) || begins_with_scheme(rest) => {
                return Err(TargetError::SchemeRepeated {
                    intended: intended(),
                });
            }
            Some(rest) if !rest.starts_with('/') => {}
            _ => {
                return Err(TargetError::Slashes {
                    intended: intended(),
                });
            }
        }
        let violation = RefCell::new(None);
        let note = |v| {
            if let Some(error) = refusal(v) {
                violation.borrow_mut().get_or_insert(error);
            }
        };
        let url = Url::options()
            .syntax_violation_callback(Some(&note))
            .parse(text)
            .map_err(TargetError::from)?;
        if let Some(error) = violation.into_inner() {
            return Err(error);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TargetError::UserInfo);
        }
        let bytes = url.as_str().len();
        if bytes > MAX_TARGET_BYTES {
            return Err(TargetError::TooLong { bytes });
        }
        debug_assert!(url.as_str().bytes().all(|b| b.is_ascii_graphic()));
        Ok(Self(Cow::Owned(url.into())))
    }

    /// Returns the canonical form, which is sent as `Location`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether its host is `localhost` or a literal address that is private, shared, loopback,
    /// link-local or unspecified.
    pub fn is_private(&self) -> bool {
        is_private(&self.0)
    }

    /// Converts it into an owned target.
    pub fn into_owned(self) -> Target<'static> {
        Target(Cow::Owned(self.0.into_owned()))
    }

    /// Returns the canonical form as a string.
    pub fn into_string(self) -> String {
        self.0.into_owned()
    }
}

/// Returns whether text after a code can be appended to a target without changing the authority.
pub(in crate::mapping::value) fn can_be_extended(target: &str) -> bool {
    target.ends_with(['/', '=', ':', '#'])
}

/// The beginning that most targets share, and that sites do not store.
pub(crate) const HTTPS: &str = "https://";
const HTTP: &str = "http://";

/// Returns the part of a target that a site stores.
pub(crate) fn pack(target: &str) -> &str {
    target.strip_prefix(HTTPS).unwrap_or(target)
}

/// Returns the scheme with its slashes, and the rest, of a target shortened by [`pack`]: a host has
/// no colon followed by two slashes, so this is never ambiguous.
pub(crate) fn unpack(packed: &str) -> (&'static str, &str) {
    match packed.strip_prefix(HTTP) {
        Some(rest) => (HTTP, rest),
        None => (HTTPS, packed),
    }
}

/// Returns the scheme of a URL with its slashes, and the rest.
pub(crate) fn divided(url: &str) -> (&str, &str) {
    let scheme = [HTTPS, HTTP].into_iter().find(|it| url.starts_with(it));
    url.split_at(scheme.map_or(0, str::len))
}

/// Returns whether a URL is canonical and valid by a quick test, as most are: a host of lower case
/// letters, and a path, query and fragment that no parser would change.
///
/// All other URLs are left to the parser.
fn is_plainly_canonical(text: &str) -> bool {
    let rest = text.strip_prefix("https://");
    let Some(rest) = rest.or_else(|| text.strip_prefix("http://")) else {
        return false;
    };
    let Some(slash) = memchr(b'/', rest.as_bytes()) else {
        return false;
    };
    let (host, path) = rest.split_at(slash);
    let mut before = 0;
    let is_plain = |byte: u8| {
        // A segment that begins with a dot may lead up.
        let after_slash = std::mem::replace(&mut before, byte) == b'/';
        KEPT[usize::from(byte)] && !(after_slash && byte == b'.')
    };
    is_plain_host(host) && !has_second_scheme(rest) && path.bytes().all(is_plain)
}

/// Returns whether a host is a domain name whose labels need no check: none is a number, as the
/// last label of an IPv4 address is, or in Punycode.
fn is_plain_host(host: &str) -> bool {
    let mut begins_label = true;
    for (at, byte) in host.bytes().enumerate() {
        begins_label = match byte {
            b'x' if begins_label && host[at..].starts_with("xn--") => return false,
            b'a'..=b'z' => false,
            b'0'..=b'9' | b'-' if !begins_label => false,
            b'.' if !begins_label => true,
            _ => return false,
        };
    }
    host.len() <= 253 && !begins_label
}

/// The bytes that are kept in a path, a query and a fragment alike. `%` is not among them: it may
/// encode a dot.
const KEPT: [bool; 256] = {
    let mut kept = [false; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        kept[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    let marks = b"-._~/!$&()*+,;=:@?#";
    let mut at = 0;
    while at < marks.len() {
        kept[marks[at] as usize] = true;
        at += 1;
    }
    kept
};

/// Returns the rest after `http:` or `https:`.
fn after_scheme(text: &str) -> Result<&str, TargetError> {
    let relative = || TargetError::Relative {
        intended: match looks_like_host(text) {
            true => Some(format!("https://{text}")),
            false => valid_intended_url(text),
        },
    };
    let (scheme, rest) = text.split_once(':').ok_or_else(relative)?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    if !is_scheme {
        return Err(relative());
    }
    if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") {
        return Ok(rest);
    }
    // `example.org:8080/x` seems to begin with a scheme, but has none.
    if scheme.contains('.') && rest.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(relative());
    }
    Err(TargetError::Scheme {
        scheme: scheme.to_ascii_lowercase(),
    })
}

fn valid_intended_url(text: &str) -> Option<String> {
    intended_url(text).filter(|url| url != text && Target::parse(url).is_ok())
}

fn looks_like_host(text: &str) -> bool {
    let host = text.split(['/', ':', '?', '#']).next().unwrap_or_default();
    host.contains('.') && matches!(Host::parse(host), Ok(Host::Domain(_)))
}

fn refusal(violation: SyntaxViolation) -> Option<TargetError> {
    match violation {
        SyntaxViolation::Backslash => Some(TargetError::Backslash),
        SyntaxViolation::EmbeddedCredentials | SyntaxViolation::UnencodedAtSign => {
            Some(TargetError::UserInfo)
        }
        SyntaxViolation::ExpectedDoubleSlash => Some(TargetError::Slashes { intended: None }),
        SyntaxViolation::C0SpaceIgnored => Some(TargetError::SurroundingSpace),
        // Percent-encoded on serialisation, or kept; the canonical form shows which.
        SyntaxViolation::NonUrlCodePoint | SyntaxViolation::PercentDecode => None,
        // Tabs, newlines and NUL were refused earlier; the rest is about file URLs.
        _ => None,
    }
}

/// The reason why a text cannot be a target.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TargetError {
    /// It has no scheme.
    #[error("the URL is not absolute")]
    Relative {
        /// The URL that was probably intended.
        intended: Option<String>,
    },
    /// Its scheme is not `http` or `https`.
    #[error("the URL has the scheme {scheme:?}, but a short link can only lead to http or https")]
    Scheme {
        /// The scheme, in lower case.
        scheme: String,
    },
    /// It is longer than [`MAX_TARGET_BYTES`], as written or serialised.
    #[error("a URL can have at most {MAX_TARGET_BYTES} bytes, this one has {bytes}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It contains a control character.
    #[error("the URL contains the control character {control:?}")]
    ControlCharacter {
        /// The character.
        control: char,
    },
    /// It begins or ends in white space.
    #[error("the URL has white space around it")]
    SurroundingSpace,
    /// The scheme is not followed by exactly two slashes.
    #[error("the URL's scheme is not followed by exactly two slashes")]
    Slashes {
        /// The URL that was probably intended.
        intended: Option<String>,
    },
    /// Its host is a second scheme.
    #[error("the URL has two schemes")]
    SchemeRepeated {
        /// The URL that was probably intended.
        intended: Option<String>,
    },
    /// It contains a backslash in place of a slash.
    #[error("the URL contains a backslash, which browsers treat as a slash")]
    Backslash,
    /// It contains a user name or a password.
    #[error("the URL contains user information before an \"@\"")]
    UserInfo,
    /// It has no host.
    #[error("the URL has no host")]
    EmptyHost,
    /// Its host is not a domain name or an IP address (UTS #46, RFC 3986 section 3.2.2).
    #[error("the URL's host is not valid")]
    Host,
    /// Its port is not a number from 0 to 65535.
    #[error("the URL's port is not valid")]
    Port,
}

impl TargetError {
    /// Returns the rule that the text breaks.
    pub fn rule(&self) -> Rule {
        match self {
            Self::Relative { .. } => Rule::UrlNotAbsolute,
            Self::Scheme { .. } => Rule::UrlSchemeUnsupported,
            Self::TooLong { .. } => Rule::UrlTooLong,
            Self::ControlCharacter { .. } => Rule::UrlControlCharacter,
            Self::SurroundingSpace => Rule::UrlSurroundingSpace,
            Self::Slashes { .. } => Rule::UrlSlashesInvalid,
            Self::SchemeRepeated { .. } => Rule::UrlSchemeRepeated,
            Self::Backslash => Rule::UrlBackslash,
            Self::UserInfo => Rule::UrlUserInfo,
            Self::EmptyHost => Rule::UrlHostMissing,
            Self::Host => Rule::UrlHostInvalid,
            Self::Port => Rule::UrlPortInvalid,
        }
    }

    /// Returns the remedy, if the message does not already name it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Relative { intended }
            | Self::Slashes { intended }
            | Self::SchemeRepeated { intended } => match intended {
                Some(url) => format!("did you mean {url:?}?"),
                None => "begin with the scheme, as in \"https://example.org/\"".to_owned(),
            },
            Self::ControlCharacter { .. } => {
                "leave it out, or percent-encode it if the target needs it".to_owned()
            }
            Self::Backslash => "write \"/\", or \"%5C\" for a real backslash".to_owned(),
            Self::UserInfo => "links are public: leave out everything before the \"@\"".to_owned(),
            _ => return None,
        })
    }
}

impl From<ParseError> for TargetError {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::EmptyHost => Self::EmptyHost,
            ParseError::InvalidPort => Self::Port,
            ParseError::RelativeUrlWithoutBase => Self::Relative { intended: None },
            _ => Self::Host,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &str) -> TargetError {
        Target::parse(text).expect_err(text)
    }

    #[test]
    fn keeps_canonical_urls() {
        for text in [
            "https://framasoft.org/",
            "http://example.org:8080/a/b?c=d&e#f",
            "https://example.org/?q=%0A",
            "http://[2001:db8::1]/",
            "https://example.org/a|b",
            "https://example.org/@user",
            "https://example.org/a//b\u{7e}",
        ] {
            assert_eq!(Target::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn makes_urls_canonical() {
        for (text, canonical) in [
            ("https://example.org", "https://example.org/"),
            ("HTTPS://EXAMPLE.org:443/a", "https://example.org/a"),
            (
                "https://bücher.example/ä",
                "https://xn--bcher-kva.example/%C3%A4",
            ),
            ("https://example.org/a b", "https://example.org/a%20b"),
            ("https://example.org/a/../b", "https://example.org/b"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
        ] {
            assert_eq!(Target::parse(text).unwrap().as_str(), canonical);
        }
    }

    #[test]
    fn refuses_other_schemes_by_name() {
        for scheme in ["javascript", "data", "ftp", "file", "mailto", "ws"] {
            assert_eq!(
                refused(&format!("{scheme}:x")),
                TargetError::Scheme {
                    scheme: scheme.to_owned()
                }
            );
        }
    }

    #[test]
    fn refuses_what_the_parser_only_tolerates() {
        for text in [
            "https:/e.org/",
            "https:e.org/",
            "https:///e.org/",
            "http:////e.org",
        ] {
            assert!(
                matches!(refused(text), TargetError::Slashes { .. }),
                "{text}"
            );
        }
        for text in [
            "https://https://e.org/",
            "http://https//e.org/",
            "HTTP://Http:/e.org",
        ] {
            assert!(
                matches!(
                    refused(text),
                    TargetError::SchemeRepeated { intended: Some(_) }
                ),
                "{text}"
            );
        }
        assert!(Target::parse("https://http/e.org").is_ok());
        for text in [
            "https:\\\\e.org/",
            "https://e.org\\@f.org/",
            "https://e.org/a\\b",
        ] {
            assert!(matches!(
                refused(text),
                TargetError::Backslash | TargetError::Slashes { .. }
            ));
        }
        for text in [
            "https://e.org/a\tb",
            "https://e.\norg/",
            "https://e.org/\u{0}",
            "\u{85}",
        ] {
            assert!(matches!(
                refused(text),
                TargetError::ControlCharacter { .. }
            ));
        }
        for text in [" https://e.org/", "https://e.org/ ", "\u{a0}https://e.org/"] {
            assert_eq!(refused(text), TargetError::SurroundingSpace);
        }
        for text in [
            "https://u@e.org/",
            "https://u:p@e.org/",
            "https://@e.org/",
            "https://:@e.org/",
        ] {
            assert_eq!(refused(text), TargetError::UserInfo, "{text}");
        }
    }

    #[test]
    fn refuses_relative_urls_and_bad_hosts() {
        for text in ["", "/a", "//e.org/", "#f", "e.org", "e.org:80/x", "a b:c"] {
            assert!(
                matches!(refused(text), TargetError::Relative { .. }),
                "{text}"
            );
        }
        assert_eq!(
            refused("e.org:80/x").hint().unwrap(),
            "did you mean \"https://e.org:80/x\"?"
        );
        for text in ["https://", "https://?q", "https://#f", "https://:80/"] {
            assert_eq!(refused(text), TargetError::EmptyHost, "{text}");
        }
        assert_eq!(refused("https://e.org:x/"), TargetError::Port);
        assert_eq!(refused("https://e.org:65536/"), TargetError::Port);
        assert_eq!(refused("https://a b/"), TargetError::Host);
        assert_eq!(refused("https://[::1/"), TargetError::Host);
    }

    #[test]
    fn the_length_counts_as_written_and_as_sent() {
        let long = |character: &str, times| format!("https://e.org/{}", character.repeat(times));
        assert!(Target::parse(&long("a", 8178)).is_ok());
        assert!(matches!(
            refused(&long("a", 8179)),
            TargetError::TooLong { bytes: 8193 }
        ));
        assert!(matches!(
            refused(&long("ä", 2000)),
            TargetError::TooLong { .. }
        ));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            max_global_rejects: 16_384,
            ..ProptestConfig::default()
        })]

        #[test]
        fn what_is_plainly_canonical_is_canonical(
            host in "[a-z0-9x.-]{1,12}|[a-z][a-z0-9x-]{0,5}[.][a-z]{2,4}",
            path in "/[a-z/.?#%@:&+!'|-]{0,12}",
        ) {
            let text = format!("https://{host}{path}");
            prop_assume!(is_plainly_canonical(&text));
            let refused = RefCell::new(false);
            let note = |violation| *refused.borrow_mut() |= refusal(violation).is_some();
            let options = Url::options().syntax_violation_callback(Some(&note));
            let url = options.parse(&text).unwrap();
            prop_assert_eq!(url.as_str(), text.as_str());
            prop_assert!(url.username().is_empty() && !refused.into_inner());
        }

        #[test]
        fn whatever_is_accepted_is_safe_in_a_header(text in "https?://\\PC{0,40}") {
            let Ok(target) = Target::parse(&text) else {
                return Err(TestCaseError::reject("no target"));
            };
            prop_assert!(target.as_str().bytes().all(|b| b.is_ascii_graphic()));
            prop_assert!(target.as_str().starts_with("http"));
            let again = Target::parse(target.as_str());
            prop_assert_eq!(again.as_ref().map(Target::as_str), Ok(target.as_str()));
        }
    }
}
