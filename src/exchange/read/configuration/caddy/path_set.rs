//! Patterns of paths, and sets of them.
//!
//! Caddy compares paths without regard to case.

use std::collections::BTreeSet;
use std::ops::Bound;

/// Whether a matcher matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    Yes,
    No,
    Unknown,
}

/// A pattern of paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathPattern {
    /// The text with which the paths begin, as it is written.
    pub(super) written: String,
    /// The same in lower case: Caddy ignores case.
    pub(super) start: String,
    pub(super) kind: PatternKind,
    /// The length of the whole pattern in bytes.
    pub(super) length: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternKind {
    /// The path is this text.
    Exact,
    /// Anything may follow.
    Prefix,
    /// Only something may follow that is not known.
    Unknown,
}

impl PathPattern {
    /// Reads a pattern.
    pub(super) fn of(text: &str) -> Self {
        let special = text.find(['*', '?', '[', '\\', '{', '%']);
        let (written, kind) = match special {
            None => (text, PatternKind::Exact),
            Some(at) if &text[at..] == "*" => (&text[..at], PatternKind::Prefix),
            Some(at) => (&text[..at], PatternKind::Unknown),
        };
        Self {
            written: written.to_owned(),
            start: written.to_lowercase(),
            kind,
            length: text.len(),
        }
    }
}

/// Patterns of which one must match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PathSet {
    patterns: Vec<PathPattern>,
    exact: BTreeSet<String>,
    prefixes: BTreeSet<String>,
    unknown: BTreeSet<String>,
}

impl PathSet {
    /// Returns the set of some patterns.
    pub(super) fn of<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let mut set = Self::default();
        for pattern in patterns {
            set.add(pattern);
        }
        set
    }

    /// Adds a pattern.
    pub(super) fn add(&mut self, pattern: &str) {
        let pattern = PathPattern::of(pattern);
        let starts = match pattern.kind {
            PatternKind::Exact => &mut self.exact,
            PatternKind::Prefix => &mut self.prefixes,
            PatternKind::Unknown => &mut self.unknown,
        };
        starts.insert(pattern.start.clone());
        self.patterns.push(pattern);
    }

    /// Returns the patterns, in order.
    pub(super) fn patterns(&self) -> &[PathPattern] {
        &self.patterns
    }

    /// Returns whether one matches a path.
    pub(super) fn matches(&self, path: &str) -> Truth {
        let folded = path.to_lowercase();
        match () {
            () if self.exact.contains(&folded) => Truth::Yes,
            () if has_start_of(&self.prefixes, &folded) => Truth::Yes,
            () if has_start_of(&self.unknown, &folded) => Truth::Unknown,
            () => Truth::No,
        }
    }

    /// Returns whether one may match a path that begins with a text in lower case.
    pub(super) fn may_match_below(&self, folded: &str) -> bool {
        let has_inside = |starts: &BTreeSet<String>| {
            let next = starts
                .range::<str, _>((Bound::Included(folded), Bound::Unbounded))
                .next();
            next.is_some_and(|it| it.starts_with(folded))
        };
        let all = [&self.exact, &self.prefixes, &self.unknown];
        all.into_iter().any(has_inside)
            || has_start_of(&self.prefixes, folded)
            || has_start_of(&self.unknown, folded)
    }
}

/// Returns whether a text begins with one of some texts.
fn has_start_of(starts: &BTreeSet<String>, text: &str) -> bool {
    let ends = (0..=text.len()).filter(|end| text.is_char_boundary(*end));
    !starts.is_empty() && ends.into_iter().any(|end| starts.contains(&text[..end]))
}
