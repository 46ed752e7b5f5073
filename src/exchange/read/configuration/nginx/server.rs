//! What nginx answers to a path, by the directives of a server and of its locations.
//!
//! The directives of the server come first. Then the location of this very path is chosen, or else the
//! longest that the path begins with, unless an expression matches it. What no directive redirects counts
//! as not found: files and other servers are not known.

use std::collections::{BTreeMap, HashMap};

use super::blocks::Block;
use super::error_pages::{ErrorPage, ErrorPages};
use super::expressions::expression;
use super::instructions::Body;
use super::request::Request;
use super::variables::Variables;
use crate::exchange::read::configuration::decision::{Decision, DecisionKind};
use crate::exchange::read::configuration::pattern::{Groups, Pattern};
use crate::exchange::read::configuration::pattern_index::PatternIndex;
use crate::exchange::read::configuration::pattern_index::TOO_MANY;
use crate::exchange::read::rows::RowError;
use crate::mapping::Status;

/// The directives for some paths.
pub(super) struct Location {
    pub(super) body: Body,
    /// The locations that it contains, whose redirects are not read.
    inner: Option<Box<Server>>,
    /// Whether requests of clients are answered with 404 there.
    is_internal: bool,
    /// The line on which it begins, from 1.
    line: usize,
    pages: ErrorPages,
    /// Whether another server answers there, and nginx adds the slash that its path ends in to a request
    /// without one.
    pub(super) is_passed: bool,
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
    pages: ErrorPages,
}

/// A location that was chosen.
pub(super) struct Chosen<'s> {
    location: &'s Location,
    /// What its expression matched, if it has one.
    groups: Option<Groups>,
}

/// What is found for a path.
enum Found<'s> {
    Location(Chosen<'s>),
    /// A redirect to the path with a slash after it, because of the location in this line.
    Slash(usize),
    Nothing,
}

impl Location {
    /// Reads a block, in a server with these pages.
    fn of(block: &Block, outer: &ErrorPages) -> Self {
        let has = |is_it: fn(&str) -> bool| {
            let names = block.inner.iter().filter_map(|it| it.words.first());
            names.into_iter().any(|name| is_it(name))
        };
        let pages = ErrorPages::of(&block.inner, outer);
        let has_inner = has(|name| name == "location");
        Self {
            body: Body::of(&block.inner),
            inner: has_inner.then(|| Box::new(Server::of(&block.inner, &pages))),
            is_internal: has(|name| name == "internal"),
            line: block.line,
            pages,
            is_passed: has(|name| name.ends_with("_pass")),
        }
    }

    /// Returns whether a location in this one may be chosen for a path before expressions outside of it are compared.
    fn has_inner_before(&self, path: &str) -> bool {
        self.inner.as_ref().is_some_and(|inner| {
            let is_of = |(start, prefix): (&String, &Prefix)| {
                path.starts_with(start.as_str())
                    && (prefix.is_final || prefix.location.has_inner_before(path))
            };
            inner.exact.contains_key(path)
                || inner.passed_with_slash(path).is_some()
                || inner.prefixes.iter().any(is_of)
                || inner
                    .patterns
                    .iter()
                    .any(|(it, _)| it.may_match(path.as_bytes()))
        })
    }

    /// Returns whether one may be for some of the paths that begin with a text.
    pub(super) fn has_inner_before_below(&self, start: &str) -> bool {
        self.inner.as_ref().is_some_and(|inner| {
            let is_of = |(path, prefix): (&String, &Prefix)| {
                let location = &prefix.location;
                (path.starts_with(start) || start.starts_with(path.as_str()))
                    && (prefix.is_final
                        || location.is_passed
                        || location.has_inner_before_below(start))
            };
            let may_match = |it: &Pattern| it.may_match_below(start.as_bytes());
            inner.exact.keys().any(|it| it.starts_with(start))
                || inner.prefixes.iter().any(is_of)
                || inner.patterns.iter().any(|(it, _)| may_match(it))
        })
    }
}

impl Server {
    /// Reads the directives of a server, in a block with these pages.
    pub(super) fn of(blocks: &[Block], outer: &ErrorPages) -> Self {
        let mut server = Self {
            body: Body::of(blocks),
            pages: ErrorPages::of(blocks, outer),
            ..Self::default()
        };
        for block in blocks {
            let Some(words) = block.named("location") else {
                continue;
            };
            let location = Location::of(block, &server.pages);
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
        let mut request = Request::of(path, query);
        let mut possible = Vec::new();
        let nothing = Decision {
            line: None,
            kind: DecisionKind::NotFound,
        };
        let of_server = self.body.run(&mut request, variables, &mut possible);
        let mut pages = &self.pages;
        let end = match (of_server, self.chosen(path)) {
            (Some(Some(decision)), _) => decision,
            (_, Err(error)) => Decision {
                line: None,
                kind: DecisionKind::Other(error),
            },
            (_, Ok(Found::Nothing)) => nothing,
            // The link for the path with the slash leads where nginx leads then.
            (_, Ok(Found::Slash(line))) => Decision {
                line: Some(line),
                kind: DecisionKind::NotFound,
            },
            (_, Ok(Found::Location(chosen))) => {
                request.groups = chosen.groups.or(request.groups);
                request.value_line = None;
                pages = &chosen.location.pages;
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
            None => self.with_pages(end, pages, variables),
        }
    }

    /// Returns what is answered if some statuses have pages.
    fn with_pages(&self, end: Decision, pages: &ErrorPages, variables: &Variables) -> Decision {
        let page = match &end.kind {
            DecisionKind::Redirect(status, _) => pages.of_redirect(status.map(Status::code)),
            DecisionKind::Gone => pages.of_gone().filter(|it| !self.sends(it, variables)),
            _ => None,
        };
        match page {
            Some(page) => Decision {
                kind: DecisionKind::Other(RowError::Covered {
                    by: format!("the error_page in line {}", page.line),
                }),
                ..end
            },
            None => end,
        }
    }

    /// Returns whether the file of a page is sent, because no directive decides on its path.
    fn sends(&self, page: &ErrorPage, variables: &Variables) -> bool {
        let Some(path) = &page.path else {
            return false;
        };
        let mut request = Request::of(path, "");
        let mut possible = Vec::new();
        let mut is_decided =
            |body: &Body| body.run(&mut request, variables, &mut possible).is_some();
        let location = match self.found(path) {
            Ok(Found::Location(chosen)) => Some(&chosen.location.body),
            Ok(Found::Nothing) => None,
            _ => return false,
        };
        !is_decided(&self.body) && !location.is_some_and(is_decided) && possible.is_empty()
    }

    /// Returns what answers a path of a client.
    fn chosen(&self, path: &str) -> Result<Found<'_>, RowError> {
        match self.found(path)? {
            Found::Location(chosen) if chosen.location.inner.is_some() => Err(INSIDE),
            Found::Location(chosen) if chosen.location.is_internal => Err(RowError::NoLink(
                "this location is only for internal redirects",
            )),
            found => Ok(found),
        }
    }

    /// Returns what nginx finds for a path.
    fn found(&self, path: &str) -> Result<Found<'_>, RowError> {
        let whole = |location| Chosen {
            location,
            groups: None,
        };
        let found = match (self.exact.get(path), self.passed_with_slash(path)) {
            (Some(location), _) => Some(whole(location)),
            (None, Some(line)) => return Ok(Found::Slash(line)),
            (None, None) => {
                let ends = (0..=path.len())
                    .rev()
                    .filter(|end| path.is_char_boundary(*end));
                let longest = ends
                    .map(|end| &path[..end])
                    .find_map(|it| self.prefixes.get(it));
                match longest {
                    Some(prefix) if prefix.is_final => Some(whole(&prefix.location)),
                    Some(prefix) if prefix.location.has_inner_before(path) => return Err(INSIDE),
                    _ => {
                        let matching = self.matching(path)?;
                        matching.or_else(|| longest.map(|it| whole(&it.location)))
                    }
                }
            }
        };
        Ok(found.map_or(Found::Nothing, Found::Location))
    }

    /// Returns the line of the location that makes nginx add a slash to a path: one of all paths that begin
    /// with it and the slash, which another server answers, unless the path has a location of its own.
    fn passed_with_slash(&self, path: &str) -> Option<usize> {
        let slashed = format!("{path}/");
        let of_prefix = self.prefixes.get(&slashed).map(|it| &it.location);
        let passed = of_prefix.into_iter().chain(self.exact.get(&slashed));
        let line = passed.filter(|it| it.is_passed).map(|it| it.line).next()?;
        (!self.prefixes.contains_key(path)).then_some(line)
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

pub(super) const INSIDE: RowError =
    RowError::NoLink("a location inside of another one is not read");

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
