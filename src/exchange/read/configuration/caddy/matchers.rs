//! Matchers: which requests a directive is for, as far as their paths show.

use std::collections::HashMap;

use super::expanded::Directive;
use super::path_set::{PathPattern, PathSet, Truth};
use super::placeholders::Variables;
use super::request::{Request, only_placeholder};

/// A matcher.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Matcher {
    /// One of these matches, if there are any.
    pub(super) paths: Option<PathSet>,
    /// These placeholders are not empty.
    pub(super) set: Vec<String>,
    /// These placeholders have the values.
    pub(super) equal: Vec<(String, String)>,
    /// Whether it has conditions that are not known.
    pub(super) is_conditional: bool,
    /// Whether it never matches.
    is_never: bool,
}

/// The named matchers that a block can use.
pub(super) type Named = HashMap<String, Matcher>;

impl Matcher {
    /// Returns one of single paths.
    pub(super) fn of_path(text: &str) -> Self {
        Self {
            paths: Some(PathSet::of([text])),
            ..Self::default()
        }
    }

    /// Returns one that may match or not.
    pub(super) fn unknown() -> Self {
        Self {
            is_conditional: true,
            ..Self::default()
        }
    }

    /// Takes the matcher from the arguments of a directive, if the first is one.
    pub(super) fn take(arguments: &mut Vec<&str>, named: &Named) -> Self {
        let Some(first) = arguments.first().copied() else {
            return Self::default();
        };
        let found = match first {
            "*" => Self::default(),
            _ if first.starts_with('/') => Self::of_path(first),
            _ if first.starts_with('@') => named.get(first).cloned().unwrap_or_else(Self::unknown),
            _ => return Self::default(),
        };
        arguments.remove(0);
        found
    }

    /// Reads the definition of a named matcher of a site with this host.
    pub(super) fn of(directive: &Directive, host: &str) -> Self {
        let mut matcher = Self::default();
        if directive.words.len() > 1 {
            matcher.add(&directive.words[1..], &directive.inner, host);
        } else {
            for condition in &directive.inner {
                matcher.add(&condition.words, &condition.inner, host);
            }
        }
        matcher
    }

    fn add(&mut self, words: &[String], inner: &[Directive], host: &str) {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let placeholder = |text| only_placeholder(text).map(str::to_owned);
        match words[..] {
            ["path", ref patterns @ ..] if inner.is_empty() => {
                for pattern in patterns {
                    self.paths.get_or_insert_default().add(pattern);
                }
            }
            ["host", ref hosts @ ..] if hosts.iter().all(|it| !it.contains(['*', '{'])) => {
                let is_own = |it: &&str| it.eq_ignore_ascii_case(host);
                self.is_never |= !hosts.iter().any(is_own);
            }
            ["not", "vars", name, ""] if placeholder(name).is_some() => {
                self.set.extend(placeholder(name));
            }
            ["vars", name, value] if placeholder(name).is_some() && !value.contains('{') => {
                let pair = placeholder(name).map(|name| (name, value.to_owned()));
                self.equal.extend(pair);
            }
            ["expression", ref parts @ ..] => {
                let joined = parts.concat().replace(' ', "");
                match joined.strip_suffix("!=\"\"").and_then(placeholder) {
                    Some(name) => self.set.push(name),
                    None => self.is_conditional = true,
                }
            }
            _ => self.is_conditional = true,
        }
    }

    /// Returns the only pattern of paths, by whose length Caddy sorts.
    pub(super) fn only_path(&self) -> Option<&PathPattern> {
        match self.paths.as_ref().map(PathSet::patterns) {
            Some([only]) => Some(only),
            _ => None,
        }
    }

    /// Returns whether it matches every request.
    pub(super) fn is_any(&self) -> bool {
        let has_others = self.is_conditional || self.is_never;
        self.paths.is_none() && self.set.is_empty() && self.equal.is_empty() && !has_others
    }

    /// Returns whether it compares nothing but paths.
    pub(super) fn is_of_paths(&self) -> bool {
        let has_others = self.is_conditional || self.is_never;
        self.set.is_empty() && self.equal.is_empty() && !has_others
    }

    /// Returns whether it matches a request.
    pub(super) fn matches(&self, request: &Request<'_>, variables: &Variables) -> Truth {
        let value = |name: &String| variables.expand(&format!("{{{name}}}"), request).ok();
        let set = self
            .set
            .iter()
            .map(|name| value(name).map(|it| !it.is_empty()));
        let equal = self.equal.iter();
        let equal = equal.map(|(name, text)| value(name).map(|it| it == *text));
        let conditions = set.chain(equal).map(|it| match it {
            Some(true) => Truth::Yes,
            Some(false) => Truth::No,
            None => Truth::Unknown,
        });
        let path = self.paths.as_ref();
        let path = path.map_or(Truth::Yes, |it| it.matches(request.path));
        let own = match self.is_conditional {
            true => Truth::Unknown,
            false => Truth::Yes,
        };
        let all: Vec<_> = conditions.chain([path, own]).collect();
        match () {
            () if self.is_never || all.contains(&Truth::No) => Truth::No,
            () if all.contains(&Truth::Unknown) => Truth::Unknown,
            () => Truth::Yes,
        }
    }

    /// Returns whether it may match a path that begins with a text in lower case.
    pub(super) fn may_match_below(&self, folded: &str) -> bool {
        let paths = self.paths.as_ref();
        !self.is_never && paths.is_none_or(|it| it.may_match_below(folded))
    }
}
