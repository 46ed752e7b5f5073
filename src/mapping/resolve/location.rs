//! Locations: the URLs that redirects send, made from the target and the forwarded parts.
//!
//! Forwarded paths and queries are never parsed and rebuilt: their bytes are kept, except for those
//! not allowed in a header. Invariant: a location begins with its target's scheme and authority and
//! is visible ASCII.

use std::fmt;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::mapping::packed::TargetParts;

/// Characters that a URL may not contain raw in a header: controls, space, and (always encoded)
/// non-ASCII.
const UNSAFE: &AsciiSet = &CONTROLS.add(b' ');

/// The same for a path, which `?` and `#` would end.
const UNSAFE_IN_PATH: &AsciiSet = &UNSAFE.add(b'?').add(b'#');

/// The absolute URL that a redirect sends, ASCII and safe in a header.
#[derive(Debug, Clone)]
pub struct Location<'t>(Form<'t>);

#[derive(Debug, Clone)]
enum Form<'t> {
    /// The target alone, which nearly all redirects send: nothing is copied.
    Target(TargetParts<'t>),
    /// With forwarded parts.
    Extended(String),
}

impl<'t> Location<'t> {
    /// Returns a target with a path appended and a query inserted; either may be empty.
    pub(crate) fn new(target: TargetParts<'t>, path: &str, query: &str) -> Self {
        Self(match (path, query) {
            ("", "") => Form::Target(target),
            _ => Form::Extended(extend(target.parts(), path, query)),
        })
    }

    /// Returns the two parts of its text, divided anywhere.
    pub(crate) fn parts(&self) -> (&str, &str) {
        match &self.0 {
            Form::Target(target) => target.parts(),
            Form::Extended(text) => ("", text),
        }
    }
}

impl From<Location<'_>> for String {
    fn from(location: Location<'_>) -> Self {
        match location.0 {
            Form::Target(target) => target.to_string(),
            Form::Extended(text) => text,
        }
    }
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, rest) = self.parts();
        f.write_str(start)?;
        f.write_str(rest)
    }
}

/// Appends a path to a target, given in two parts, and inserts a query.
pub(super) fn extend((start, rest): (&str, &str), path: &str, query: &str) -> String {
    let more = path.len() + query.len() + usize::from(!query.is_empty());
    let mut location = String::with_capacity(start.len() + rest.len() + more);
    location.push_str(start);
    location.push_str(rest);
    location.extend(utf8_percent_encode(path, UNSAFE_IN_PATH));
    if query.is_empty() {
        return location;
    }
    let fragment = location.find('#').map(|at| location.split_off(at));
    let separator = match location.find('?') {
        None => "?",
        Some(_) if location.ends_with(['?', '&']) => "",
        Some(_) => "&",
    };
    location.push_str(separator);
    location.extend(utf8_percent_encode(query, UNSAFE));
    location.extend(fragment);
    location
}

#[cfg(test)]
mod tests {

    fn extend(target: &str, path: &str, query: &str) -> String {
        super::extend(("", target), path, query)
    }

    #[test]
    fn appends_a_path_verbatim() {
        assert_eq!(
            extend("https://e.org/", "a%2Fb//c", ""),
            "https://e.org/a%2Fb//c"
        );
        assert_eq!(
            extend("https://e.org/?iri=", "x/é", ""),
            "https://e.org/?iri=x/%C3%A9"
        );
        assert_eq!(extend("https://e.org/#", "x", ""), "https://e.org/#x");
    }

    #[test]
    fn puts_a_query_before_the_fragment() {
        for (target, location) in [
            ("https://e.org/", "https://e.org/?a=b+%20&c"),
            ("https://e.org/?x=y", "https://e.org/?x=y&a=b+%20&c"),
            ("https://e.org/?", "https://e.org/?a=b+%20&c"),
            ("https://e.org/?x&", "https://e.org/?x&a=b+%20&c"),
            ("https://e.org/#f?g", "https://e.org/?a=b+%20&c#f?g"),
        ] {
            assert_eq!(extend(target, "", "a=b+%20&c"), location);
        }
    }

    #[test]
    fn a_path_stays_a_path() {
        assert_eq!(
            extend("https://e.org/", "a?b#c", ""),
            "https://e.org/a%3Fb%23c"
        );
    }

    #[test]
    fn encodes_only_what_a_header_cannot_hold() {
        assert_eq!(
            extend("https://e.org/", "\r\nX: y", "ü\u{7f}"),
            "https://e.org/%0D%0AX:%20y?%C3%BC%7F"
        );
    }
}
