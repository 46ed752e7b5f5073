//! What nginx answers to a path, by the directives of a server and of its locations.
//!
//! The directives of the server come first. Then the location of this very path is chosen, or else the
//! longest that the path begins with, unless an expression matches it. What no directive redirects counts
//! as not found: files and other servers are not known.

use std::collections::{BTreeMap, HashMap};

use super::blocks::Block;
use super::expressions::expression;
use super::instructions::{Body, Decision, DecisionKind};
use super::request::Request;
use super::variables::Variables;
use crate::exchange::read::configuration::pattern::Pattern;
use crate::exchange::read::configuration::pattern_index::PatternIndex;
use crate::exchange::read::configuration::pattern_index::TOO_MANY;
use crate::exchange::read::rows::RowError;

/// The directives for some paths.
pub(super) struct Location {
    pub(super) body: Body,
    /// Whether it contains others, which are not read.
    pub(super) has_inner: bool,
    /// Whether requests of clients are answered with 404 there.
    is_internal: bool,
}

/// A location of all paths that begin with a text.
pub(super) struct Prefix {
    pub(super) location: Location,
    /// Whether no expression is compared with its paths.
    pub(super) is_final: bool,
}

/// The directives of one server.
#[derive(Default)]
pub(super) struct Server {
    pub(super) body: Body,
    pub(super) exact: BTreeMap<String, Location>,
    pub(super) prefixes: BTreeMap<String, Prefix>,
    pub(super) patterns: Vec<(Pattern, Location)>,
    index: PatternIndex,
}

/// A location that was chosen.
pub(super) struct Chosen<'s> {
    location: &'s Location,
    groups: Option<Vec<Option<Vec<u8>>>>,
}

impl Server {
    pub(super) fn of(blocks: &[Block]) -> Self {
        let mut server = Self {
            body: Body::of(blocks),
            ..Self::default()
        };
        for block in blocks {
            let Some(words) = block.named("location") else {
                continue;
            };
            let location = Location {
                body: Body::of(&block.inner),
                has_inner: block.inner.iter().any(|it| it.named("location").is_some()),
                is_internal: block.inner.iter().any(|it| it.named("internal").is_some()),
            };
            let (exact, prefixes) = (&mut server.exact, &mut server.prefixes);
            let mut add = |path: &str, location, is_final| {
                let prefix = Prefix { location, is_final };
                prefixes.entry(path.to_owned()).or_insert(prefix);
            };
            match words[..] {
                ["=", path] => drop(exact.entry(path.to_owned()).or_insert(location)),
                ["^~", path] => add(path, location, true),
                ["~", written] => server.patterns.push((expression(written, false), location)),
                ["~*", written] => server.patterns.push((expression(written, true), location)),
                [text] => match (text.strip_prefix("^~"), text.strip_prefix("~*")) {
                    (Some(path), _) => add(path, location, true),
                    (_, Some(written)) => {
                        server.patterns.push((expression(written, true), location))
                    }
                    _ => match (text.strip_prefix('='), text.strip_prefix('~')) {
                        (Some(path), _) => drop(exact.entry(path.to_owned()).or_insert(location)),
                        (_, Some(written)) => {
                            server.patterns.push((expression(written, false), location));
                        }
                        _ if text.starts_with('@') => {}
                        _ => add(text, location, false),
                    },
                },
                _ => {}
            }
        }
        server.index = PatternIndex::new(server.patterns.iter().map(|(it, _)| it.prefix()));
        server
    }

    /// Returns what is answered to a path and a query.
    pub(super) fn answer(&self, path: &str, query: &str, variables: &Variables) -> Decision {
        let mut request = Request {
            path,
            query,
            groups: Vec::new(),
            value_line: None,
        };
        let mut possible = Vec::new();
        let nothing = Decision {
            line: None,
            kind: DecisionKind::NotFound,
        };
        let of_server = self.body.run(&mut request, variables, &mut possible);
        let end = match (of_server, self.chosen(path)) {
            (Some(Some(decision)), _) => decision,
            (_, Err(error)) => Decision {
                line: None,
                kind: DecisionKind::Other(error),
            },
            (_, Ok(None)) => nothing,
            (_, Ok(Some(chosen))) => {
                request.groups = chosen.groups.unwrap_or(request.groups);
                request.value_line = None;
                let body = &chosen.location.body;
                let found = body.run(&mut request, variables, &mut possible).flatten();
                found.unwrap_or(nothing)
            }
        };
        let differs = |it: &&Decision| it.kind != end.kind;
        match possible.iter().find(differs) {
            Some(other) => Decision {
                line: other.line,
                kind: DecisionKind::Other(CONDITION),
            },
            None => end,
        }
    }

    /// Returns the location that is chosen for a path.
    fn chosen(&self, path: &str) -> Result<Option<Chosen<'_>>, RowError> {
        let whole = |location| Chosen {
            location,
            groups: None,
        };
        let found = match self.exact.get(path) {
            Some(location) => Some(whole(location)),
            None => {
                let ends = (0..=path.len())
                    .rev()
                    .filter(|end| path.is_char_boundary(*end));
                let longest = ends
                    .map(|end| &path[..end])
                    .find_map(|it| self.prefixes.get(it));
                match longest {
                    Some(prefix) if prefix.is_final => Some(whole(&prefix.location)),
                    _ => {
                        let matching = self.matching(path)?;
                        matching.or_else(|| longest.map(|it| whole(&it.location)))
                    }
                }
            }
        };
        match found {
            Some(chosen) if chosen.location.has_inner => Err(RowError::NoLink(
                "a location inside of another one is not read",
            )),
            Some(chosen) if chosen.location.is_internal => Err(RowError::NoLink(
                "this location is only for internal redirects",
            )),
            found => Ok(found),
        }
    }

    fn matching(&self, path: &str) -> Result<Option<Chosen<'_>>, RowError> {
        let near = self.index.near(path.as_bytes()).ok_or(TOO_MANY)?;
        for number in near {
            let (pattern, location) = &self.patterns[number];
            let Pattern::Known(known) = pattern else {
                return Err(RowError::NoLink("this expression cannot be read"));
            };
            if let Some(groups) = known.groups(path.as_bytes()) {
                return Ok(Some(Chosen {
                    location,
                    groups: Some(groups),
                }));
            }
        }
        Ok(None)
    }

    /// Returns the locations of expressions before a number that may match a path that begins with a
    /// text; `None` if there are too many.
    pub(super) fn patterns_below(&self, end: usize, start: &str) -> Option<Vec<&Location>> {
        let near = self.index.below(start.as_bytes())?.into_iter();
        let near = near.filter(|number| *number < end);
        let near = near.map(|number| &self.patterns[number]);
        let near = near.filter(|(pattern, _)| pattern.may_match_below(start.as_bytes()));
        Some(near.map(|(_, location)| location).collect())
    }
}

const CONDITION: RowError = RowError::NoLink("a directive with conditions is not a link");

/// Returns the variables of a configuration with one value: those of `geo` blocks that have only a default.
pub(super) fn constants(blocks: &[Block]) -> HashMap<String, String> {
    let geo = blocks.iter().filter_map(|it| Some((it.named("geo")?, it)));
    let constants = geo.filter_map(|(words, block)| match (&words[..], &block.inner[..]) {
        ([variable], [only]) => match only.named("default")?[..] {
            [value] => Some((variable.strip_prefix('$')?.to_owned(), value.to_owned())),
            _ => None,
        },
        _ => None,
    });
    constants.collect()
}
