//! A target in two parts, as a site stores it: a shared host, and the rest.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::mapping::value::target;

/// A target in canonical form, in two parts; compared by its text, wherever it is divided.
#[derive(Clone, Copy)]
pub struct TargetParts<'t> {
    start: &'t str,
    rest: &'t str,
}

impl<'t> TargetParts<'t> {
    /// Divides a target after its scheme, or after the slash that follows its host.
    pub(super) fn new(start: &'t str, rest: &'t str) -> Self {
        Self { start, rest }
    }

    /// Returns a target as one part.
    pub(crate) fn of(target: &'t str) -> Self {
        Self::new("", target)
    }

    /// Returns both parts: the first is the scheme with its slashes, or reaches to the slash after the
    /// host.
    pub(crate) fn parts(self) -> (&'t str, &'t str) {
        (self.start, self.rest)
    }

    /// Returns the part that begins with the host, and at least reaches to its end.
    pub(crate) fn host_and_rest(self) -> &'t str {
        if self.start.is_empty() {
            return target::divided(self.rest).1;
        }
        let (_, host) = target::divided(self.start);
        match host {
            "" => self.rest,
            host => host,
        }
    }

    fn bytes(&self) -> impl Iterator<Item = u8> + use<'t> {
        self.start.bytes().chain(self.rest.bytes())
    }

    fn len(&self) -> usize {
        self.start.len() + self.rest.len()
    }
}

impl PartialEq for TargetParts<'_> {
    fn eq(&self, other: &Self) -> bool {
        if self.start.len() == other.start.len() {
            return self.start == other.start && self.rest == other.rest;
        }
        self.len() == other.len() && self.bytes().eq(other.bytes())
    }
}

impl Eq for TargetParts<'_> {}

impl PartialOrd for TargetParts<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TargetParts<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.start == other.start {
            return self.rest.cmp(other.rest);
        }
        self.bytes().cmp(other.bytes())
    }
}

impl Hash for TargetParts<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Hashers may treat several short writes differently from one.
        for byte in self.bytes() {
            state.write_u8(byte);
        }
        state.write_u8(0xFF);
    }
}

impl fmt::Display for TargetParts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.start)?;
        f.write_str(self.rest)
    }
}

impl fmt::Debug for TargetParts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn where_a_target_is_divided_does_not_count() {
        let hasher = std::hash::RandomState::new();
        let text = "https://a.org/b";
        for one in 0..=text.len() {
            for other in 0..=text.len() {
                let parts = |at: usize| TargetParts::new(&text[..at], &text[at..]);
                let (one, other) = (parts(one), parts(other));
                assert_eq!(one, other);
                assert_eq!(one.cmp(&other), Ordering::Equal);
                assert_eq!(hasher.hash_one(one), hasher.hash_one(other));
                assert_eq!(one.to_string(), text);
            }
        }
        let (a, b) = (
            TargetParts::new("https://a.org/", "b"),
            TargetParts::new("https://", "a.org/c"),
        );
        assert!(a != b && a < b);
    }
}
