//! The URL of a rule: text with references to what its expression matched, and the escapes that
//! Apache adds to the result.

use crate::exchange::read::configuration::pattern::Groups;
use crate::exchange::read::rows::{RowError, excerpt};

/// The characters that Apache leaves as they are in a path.
const LITERAL: &[u8] = b"$-_.+!*'(),:;@&=/~";

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The URL of a rule.
#[derive(Debug)]
pub(crate) struct Substitution {
    parts: Vec<Part>,
    escapes: Escapes,
    has_references: bool,
}

#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    Group(usize),
}

/// What Apache escapes of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// Only what was matched: `Redirect`.
    Matched,
    /// Nothing: `[NE]`.
    Nothing,
    /// The path and the query: `RewriteRule`.
    PathAndQuery,
    /// The path: `RedirectMatch`.
    Path,
}

impl Substitution {
    /// Reads the URL of a rule.
    ///
    /// # Errors
    ///
    /// If it depends on more than the path.
    pub(crate) fn parse(text: &str, escapes: Escapes) -> Result<Self, RowError> {
        let has_conditions = !matches!(escapes, Escapes::Path);
        let mut parts = Vec::new();
        let mut plain = Vec::new();
        let mut chars = text.chars().peekable();
        let mut has_references = false;
        while let Some(c) = chars.next() {
            let next = chars.peek().copied().unwrap_or_default();
            match c {
                '\\' if next != '\0' => push(&mut plain, chars.next().unwrap_or_default()),
                '$' if next.is_ascii_digit() => {
                    has_references = true;
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                    parts.push(Part::Group(next.to_digit(10).unwrap_or_default() as usize));
                    chars.next();
                }
                '$' if next == '{' && has_conditions => {
                    return Err(RowError::Variable(excerpt(text)));
                }
                '%' if next == '{' && has_conditions => {
                    return Err(RowError::Variable(excerpt(text)));
                }
                '%' if next.is_ascii_digit() && has_conditions => {
                    return Err(RowError::NoLink(
                        "Apache reads % and a digit in the URL of a rule as a reference to a condition",
                    ));
                }
                c => push(&mut plain, c),
            }
        }
        parts.push(Part::Text(plain));
        Ok(Self {
            parts,
            escapes,
            has_references,
        })
    }

    /// Returns the URL of `Redirect`: what its path does not match is appended.
    pub(crate) fn of_prefix(url: &str) -> Self {
        Self {
            parts: vec![Part::Text(url.into()), Part::Group(1)],
            escapes: Escapes::Matched,
            has_references: true,
        }
    }

    pub(crate) fn has_references(&self) -> bool {
        self.has_references
    }

    /// Returns the URL before it is escaped.
    pub(crate) fn expand(&self, groups: &Groups) -> Vec<u8> {
        let mut url = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => url.extend_from_slice(text),
                Part::Group(number) => {
                    let group = groups.get(*number).and_then(Option::as_ref);
                    let group = group.map(Vec::as_slice).unwrap_or_default();
                    match self.escapes {
                        Escapes::Matched => url.extend(escaped(group)),
                        _ => url.extend_from_slice(group),
                    }
                }
            }
        }
        url
    }

    /// Returns a URL as Apache sends it.
    pub(crate) fn escape(&self, url: &[u8]) -> Vec<u8> {
        let (path, query) = match url.iter().position(|it| *it == b'?') {
            Some(at) => (&url[..at], Some(&url[at + 1..])),
            None => (url, None),
        };
        let mut sent = match self.escapes {
            Escapes::Matched => return url.to_vec(),
            Escapes::Nothing => path.to_vec(),
            // The scheme and the host stay as they are.
            Escapes::PathAndQuery => {
                let host = path
                    .windows(3)
                    .position(|it| it == b"://")
                    .map_or(0, |at| at + 3);
                let end = path[host..].iter().position(|it| *it == b'/');
                let end = end.map_or(path.len(), |at| host + at);
                [&path[..end], &escaped(&path[end..])].concat()
            }
            Escapes::Path => {
                let end = path.iter().position(|it| *it == b'#').unwrap_or(path.len());
                [&escaped(&path[..end]), &path[end..]].concat()
            }
        };
        if let Some(query) = query {
            sent.push(b'?');
            // Apache removes an ampersand that might separate the query of the request.
            let query = match self.escapes {
                Escapes::Path => query,
                _ => query.strip_suffix(b"&").unwrap_or(query),
            };
            match self.escapes {
                Escapes::PathAndQuery => sent.extend(escaped(query)),
                _ => sent.extend_from_slice(query),
            }
        }
        sent
    }
}

/// Returns the URL of a rule without conditions, where `%1` to `%9` and `%0` are empty.
pub(crate) fn without_condition_references(url: &str) -> String {
    let mut kept = String::with_capacity(url.len());
    let mut chars = url.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => kept.extend([Some(c), chars.next()].into_iter().flatten()),
            '%' if chars.next_if(char::is_ascii_digit).is_some() => {}
            c => kept.push(c),
        }
    }
    kept
}

fn push(text: &mut Vec<u8>, c: char) {
    text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Returns a text as `ap_escape_uri` does.
fn escaped(text: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(text.len());
    for byte in text {
        match byte.is_ascii_alphanumeric() || LITERAL.contains(byte) {
            true => escaped.push(*byte),
            false => escaped.extend([
                b'%',
                HEX[usize::from(byte >> 4)],
                HEX[usize::from(byte & 15)],
            ]),
        }
    }
    escaped
}
