//! The encodings in which a secret may appear in a text: escapes, base64 and hexadecimal.

use std::ops::Range;

/// The length below which a secret is searched for as a separate word: it is part of too many
/// others.
const SHORT: usize = 4;

/// The minimum number of characters worth decoding.
const MIN_RUN: usize = 2;

/// A text with some layers of its escapes decoded, and the origin of each byte.
pub(crate) struct View {
    bytes: Vec<u8>,
    /// The start of each byte in the text, and the end of the text.
    at: Vec<usize>,
}

impl View {
    /// Returns a text without decoding it.
    pub(crate) fn of(text: &str) -> Self {
        Self {
            bytes: text.as_bytes().to_vec(),
            at: (0..=text.len()).collect(),
        }
    }

    /// Removes white space, which wraps long lines.
    pub(crate) fn without_space(&self) -> Self {
        let kept = || (0..self.bytes.len()).filter(|&at| !self.bytes[at].is_ascii_whitespace());
        Self {
            bytes: kept().map(|at| self.bytes[at]).collect(),
            at: kept()
                .map(|at| self.at[at])
                .chain(self.at.last().copied())
                .collect(),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the position of some bytes in the text.
    pub(crate) fn source(&self, range: Range<usize>) -> Range<usize> {
        self.at[range.start]..self.at[range.end]
    }

    /// Adds the positions of a secret in the text. A `+` may encode a space, as in forms.
    pub(crate) fn find(&self, secret: &[u8], found: &mut Vec<Range<usize>>) {
        let mut start = 0;
        while let Some(range) = find(secret, &self.bytes, start) {
            start = range.end;
            found.push(self.source(range));
        }
    }

    /// Decodes one layer of escapes, if there are any.
    pub(crate) fn unescaped(&self, escapes: Escapes) -> Option<Self> {
        let mut next = Self {
            bytes: Vec::with_capacity(self.bytes.len()),
            at: Vec::with_capacity(self.at.len()),
        };
        let mut rest = &self.bytes[..];
        while let Some(first) = rest.first() {
            let here = self.bytes.len() - rest.len();
            let (length, decoded) = unescape(rest, escapes).unwrap_or((1, vec![*first]));
            next.at.extend(decoded.iter().map(|_| self.at[here]));
            next.bytes.extend(decoded);
            rest = &rest[length..];
        }
        next.at.push(self.at[self.bytes.len()]);
        (next.bytes.len() < self.bytes.len()).then_some(next)
    }
}

/// Finds a secret at or after `start`.
fn find(secret: &[u8], bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let is = |(there, wanted): (&u8, &u8)| there == wanted || (*wanted == b' ' && *there == b'+');
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let last = bytes.len().checked_sub(secret.len())?;
    (start..=last)
        .map(|at| at..at + secret.len())
        .find(|range| {
            bytes[range.clone()].iter().zip(secret).all(is)
                && (secret.len() >= SHORT
                    || !is_word(range.start.checked_sub(1).and_then(|it| bytes.get(it)))
                        && !is_word(bytes.get(range.end)))
        })
}

/// The escapes to decode. A secret may contain what looks like an escape of another kind, so each
/// is also decoded alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// All kinds.
    Any,
    /// `%2F` (RFC 3986, section 2.1).
    Percent,
    /// `\"` and `\u002f` of JSON, `\x2f` and `\057` of C.
    Backslash,
    /// `&amp;` of HTML.
    Entity,
}

impl Escapes {
    pub(crate) const ALL: [Self; 4] = [Self::Any, Self::Percent, Self::Backslash, Self::Entity];
}

/// Returns the length of the escape at the beginning of a text, and the bytes that it encodes.
fn unescape(text: &[u8], escapes: Escapes) -> Option<(usize, Vec<u8>)> {
    let kind = match text.first()? {
        b'%' => Escapes::Percent,
        b'\\' => Escapes::Backslash,
        b'&' => Escapes::Entity,
        _ => return None,
    };
    if escapes != Escapes::Any && escapes != kind {
        return None;
    }
    match text {
        [b'%', high, low, ..] => Some((3, vec![hex(*high)? << 4 | hex(*low)?])),
        [b'\\', b'x', high, low, ..] => Some((4, vec![hex(*high)? << 4 | hex(*low)?])),
        [b'\\', b'u', rest @ ..] => unicode(rest),
        [b'\\', digits @ ..] if octal(digits).is_some() => Some((4, vec![octal(digits)?])),
        [b'\\', escaped, ..] => {
            let byte = match escaped {
                b'b' => 8,
                b'f' => 12,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'"' | b'\'' | b'/' | b'\\' => *escaped,
                _ => return None,
            };
            Some((2, vec![byte]))
        }
        [b'&', rest @ ..] => entity(rest),
        _ => None,
    }
}

/// Reads the digits of `\u…`, for a character or half of a surrogate pair (RFC 8259, section 7).
fn unicode(digits: &[u8]) -> Option<(usize, Vec<u8>)> {
    let first = number(digits.get(..4)?, 16)?;
    if let Some(character) = char::from_u32(first) {
        return Some((6, utf8(character)));
    }
    let [b'\\', b'u', digits @ ..] = digits.get(4..)? else {
        return None;
    };
    let second = number(digits.get(..4)?, 16)?;
    let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
    let high = first.checked_sub(0xD800).filter(|high| *high < 0x400)?;
    let character = char::from_u32(0x1_0000 + (high << 10 | low))?;
    Some((12, utf8(character)))
}

/// Reads an HTML character reference after its `&`: those that servers write for special
/// characters.
fn entity(text: &[u8]) -> Option<(usize, Vec<u8>)> {
    let end = text.iter().take(10).position(|byte| *byte == b';')?;
    let character = match &text[..end] {
        b"amp" => '&',
        b"apos" => '\'',
        b"gt" => '>',
        b"lt" => '<',
        b"quot" => '"',
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(number(digits, 16)?)?,
        [b'#', digits @ ..] => char::from_u32(number(digits, 10)?)?,
        _ => return None,
    };
    Some((end + 2, utf8(character)))
}

fn utf8(character: char) -> Vec<u8> {
    character.to_string().into_bytes()
}

fn octal(digits: &[u8]) -> Option<u8> {
    u8::try_from(number(digits.get(..3)?, 8)?).ok()
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

/// Returns where base64 or hexadecimal may be: the runs of characters of base64 (RFC 4648, sections
/// 4 and 5).
pub(crate) fn runs(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, byte) in bytes.iter().chain(b" ").enumerate() {
        if sextet(*byte).is_none() {
            if at - start >= MIN_RUN {
                found.push(start..at);
            }
            start = at + 1;
        }
    }
    found
}

/// Returns whether a secret is in the bytes that a run of characters encodes, at any offset.
pub(crate) fn is_in_run(secret: &[u8], run: &[u8]) -> bool {
    if secret.len() < SHORT {
        let login = [b":", secret].concat();
        return [base64(run), hexadecimal(run)]
            .iter()
            .any(|decoded| decoded == secret || decoded.ends_with(&login));
    }
    let holds = |decoded: Vec<u8>| find(secret, &decoded, 0).is_some();
    (0..4).any(|offset| run.get(offset..).is_some_and(|it| holds(base64(it))))
        || (0..2).any(|offset| run.get(offset..).is_some_and(|it| holds(hexadecimal(it))))
}

fn base64(run: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(run.len() / 4 * 3);
    for group in run.chunks(4) {
        let bits = (group.iter().map_while(|byte| sextet(*byte)))
            .fold(0_u32, |bits, sextet| bits << 6 | u32::from(sextet));
        let bits = bits << (6 * (4 - group.len()));
        let whole = group.len() * 6 / 8;
        decoded.extend(&bits.to_be_bytes()[1..=whole]);
    }
    decoded
}

fn sextet(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

fn hexadecimal(run: &[u8]) -> Vec<u8> {
    // A non-digit is not a byte of a secret either, and separates those around it.
    let byte = |pair: &[u8]| Some(hex(pair[0])? << 4 | hex(*pair.get(1)?)?);
    run.chunks(2).map(|pair| byte(pair).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use ::base64::Engine as _;
    use ::base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    use proptest::prelude::*;

    use super::super::redact::redact;

    fn encodings(secret: &str) -> Vec<String> {
        let percent = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
        let lower = percent_encoding::percent_encode(secret.as_bytes(), NON_ALPHANUMERIC)
            .map(|part| {
                if part.starts_with('%') {
                    part.to_lowercase()
                } else {
                    part.to_owned()
                }
            })
            .collect();
        let json = serde_json::to_string(secret).unwrap();
        let escaped: Vec<String> = secret
            .encode_utf16()
            .map(|it| format!("\\u{it:04x}"))
            .collect();
        let hex: Vec<String> = secret.bytes().map(|it| format!("{it:02x}")).collect();
        let login = format!("user:{secret}");
        let form = percent.replace("%20", "+");
        let twice = utf8_percent_encode(&percent, NON_ALPHANUMERIC).to_string();
        let mut all = vec![secret.to_owned(), lower, json[1..json.len() - 1].to_owned()];
        all.extend([
            percent,
            form,
            twice,
            escaped.concat(),
            hex.concat(),
            hex.concat().to_uppercase(),
        ]);
        for text in [secret, &login] {
            all.push(STANDARD.encode(text));
            all.push(STANDARD_NO_PAD.encode(text));
            all.push(URL_SAFE.encode(text));
            all.push(URL_SAFE_NO_PAD.encode(text));
            all.push(utf8_percent_encode(&STANDARD.encode(text), NON_ALPHANUMERIC).to_string());
        }
        all
    }

    proptest! {
        #[test]
        fn no_encoding_of_a_secret_survives(
            secret in "[ -~]{4,20}|[a-zA-Z0-9_\\-]{8,40}|\\PC{4,12}",
            before in "[ -~]{0,10}",
            after in "\\PC{0,10}",
        ) {
            for encoded in encodings(&secret) {
                let text = format!("{before} {encoded} {after}");
                let shown = redact(&text, std::slice::from_ref(&secret));
                // Asterisks and text present without the secret are not secret.
                prop_assume!(!"***".contains(encoded.trim()));
                prop_assume!(!format!("{before}  {after}").contains(encoded.trim_end_matches('=')));
                prop_assert!(
                    !shown.contains(encoded.trim_end_matches('=')),
                    "{secret:?} as {encoded:?} in {shown:?}"
                );
            }
        }

        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,60}", secret in "\\PC{0,4}") {
            let _ = redact(&text, &[secret]);
        }

        #[test]
        fn texts_without_secrets_are_left_alone(text in "[a-zA-Z .,']{0,60}") {
            prop_assert_eq!(redact(&text, &["0123456789".to_owned()]), text);
        }
    }
}
