//! A request as directives see it, and the placeholders for its parts.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// What is encoded in a path.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b']')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A request.
#[derive(Clone)]
pub(super) struct Request<'r> {
    /// The path, decoded, with the slash before it, without the prefixes that `handle_path` has removed.
    pub(super) path: &'r str,
    /// The path as the client sent it, decoded.
    pub(super) sent_path: &'r str,
    /// The query, without its question mark.
    pub(super) query: &'r str,
}

impl<'r> Request<'r> {
    /// Returns a request of a client.
    pub(super) fn of(path: &'r str, query: &'r str) -> Self {
        Self {
            path,
            sent_path: path,
            query,
        }
    }

    /// Returns the value of a placeholder, without its braces; `None` if it depends on more than the path and the
    /// query.
    pub(super) fn value(&self, name: &str) -> Option<Cow<'r, str>> {
        let uri = |path: &str| {
            let mark = if self.query.is_empty() { "" } else { "?" };
            let path = utf8_percent_encode(path, ENCODED);
            Cow::Owned(format!("{path}{mark}{}", self.query))
        };
        Some(match name {
            "path" | "http.request.uri.path" => self.path.into(),
            "query" | "http.request.uri.query" | "http.request.orig_uri.query" => self.query.into(),
            "uri" | "http.request.uri" => uri(self.path),
            "http.request.orig_uri" => uri(self.sent_path),
            "http.request.orig_uri.path" => self.sent_path.into(),
            _ => return None,
        })
    }
}

/// Returns the name of the placeholder that a text consists of.
pub(super) fn only_placeholder(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.strip_suffix('}')?;
    (!name.is_empty() && !name.contains(['{', '}', '\\', '$'])).then_some(name)
}
