//! `map` directives, whose destinations are placeholders.

use std::collections::BTreeMap;

use super::expanded::Directive;
use super::request::only_placeholder;
use crate::exchange::read::configuration::decision::QUERY;
use crate::exchange::read::configuration::pattern::{Groups, Letters, Pattern};
use crate::exchange::read::configuration::pattern_index::{PatternIndex, TOO_MANY};
use crate::exchange::read::rows::RowError;

/// An input with its outputs.
pub(super) struct Mapping {
    /// The number of its directive.
    pub(super) number: usize,
    pub(super) input: String,
    /// The expression that the input is, if it is one.
    pub(super) pattern: Option<Pattern>,
    /// For each destination; `None` if it gets none from here.
    outputs: Vec<Option<String>>,
}

/// A map.
pub(super) struct Map {
    source: String,
    /// The names of the placeholders that it defines.
    pub(super) destinations: Vec<String>,
    pub(super) mappings: Vec<Mapping>,
    exact: BTreeMap<String, usize>,
    patterns: Vec<usize>,
    index: PatternIndex,
    /// The first of the destinations have one.
    defaults: Vec<String>,
}

const OF_QUERY: RowError = RowError::NoLink("a short link does not depend on the query");

const UNREADABLE: RowError = RowError::NoLink("this expression cannot be read");

const NO_PAIR: RowError = RowError::NoLink("this has another number of values than the map");

impl Map {
    /// Reads a directive without a matcher; reports what of it cannot be read.
    pub(super) fn of(
        directive: &Directive,
        refuse: &mut dyn FnMut(usize, RowError),
    ) -> Option<Self> {
        let arguments = directive.arguments();
        let [source, destinations @ ..] = &arguments[..] else {
            return None;
        };
        // A matcher would precede the source.
        if source.starts_with(['/', '@', '*']) {
            return None;
        }
        let destinations = destinations.iter().map(|it| only_placeholder(it));
        let destinations: Option<Vec<_>> = destinations.collect();
        let mut map = Self {
            source: (*source).to_owned(),
            destinations: destinations?.into_iter().map(str::to_owned).collect(),
            mappings: Vec::new(),
            exact: BTreeMap::new(),
            patterns: Vec::new(),
            index: PatternIndex::default(),
            defaults: Vec::new(),
        };
        for pair in &directive.inner {
            let outputs = pair.arguments();
            let is_default = pair.name() == "default";
            // There may be fewer than destinations.
            if outputs.len() > map.destinations.len() {
                refuse(pair.number, NO_PAIR);
                continue;
            }
            if is_default {
                map.defaults = outputs.iter().map(|it| (*it).to_owned()).collect();
                continue;
            }
            map.add(pair, &outputs);
        }
        let prefixes = map.patterns.iter().map(|it| &map.mappings[*it]);
        map.index = PatternIndex::new(
            prefixes.map(|it| it.pattern.as_ref().map_or(&b""[..], Pattern::prefix)),
        );
        let is_known = map.asks_for_query() || map.ends_with_query();
        (!map.depends_on_query() || is_known).then_some(map)
    }

    /// Returns whether its values depend on the query of a request.
    pub(super) fn depends_on_query(&self) -> bool {
        const NAMES: [&str; 2] = ["uri}", "query}"];
        NAMES.iter().any(|it| self.source.contains(it))
    }

    /// Returns whether it compares only the query, and only whether there is one.
    fn asks_for_query(&self) -> bool {
        let of_query = [
            "query",
            "http.request.uri.query",
            "http.request.orig_uri.query",
        ];
        let name = only_placeholder(&self.source);
        name.is_some_and(|it| of_query.contains(&it))
            && (self.mappings.iter()).all(|it| match &it.pattern {
                Some(pattern) => pattern.matches_anything(),
                None => it.input.is_empty(),
            })
    }

    /// Returns whether the query is only at the end of what it compares.
    fn ends_with_query(&self) -> bool {
        let uris = ["{uri}", "{http.request.uri}", "{http.request.orig_uri}"];
        let start = uris.iter().find_map(|it| self.source.strip_suffix(it));
        start.is_some_and(|it| !it.contains("uri}") && !it.contains("query}"))
    }

    /// Returns whether the text that its inputs are compared with has a placeholder.
    pub(super) fn has_in_source(&self, name: &str) -> bool {
        self.source.contains(&format!("{{{name}}}"))
    }

    fn add(&mut self, pair: &Directive, outputs: &[&str]) {
        let expression = pair.name().strip_prefix('~');
        match expression {
            Some(_) => self.patterns.push(self.mappings.len()),
            None => {
                let next = self.mappings.len();
                self.exact.entry(pair.name().to_owned()).or_insert(next);
            }
        }
        let outputs = (0..self.destinations.len()).map(|at| {
            let written = outputs.get(at).map(|it| (*it).to_owned());
            written.filter(|it| it != "-")
        });
        self.mappings.push(Mapping {
            number: pair.number,
            input: pair.name().to_owned(),
            pattern: expression.map(|it| Pattern::parse(&format!("(?:{it})"), Letters::Exact)),
            outputs: outputs.collect(),
        });
    }

    fn default(&self, place: usize) -> &str {
        self.defaults.get(place).map_or("", String::as_str)
    }

    /// Returns whether each of its inputs may be a path.
    pub(super) fn may_be_of_paths(&self) -> bool {
        only_placeholder(&self.source).is_some()
    }

    /// Returns whether its inputs are compared with the path.
    pub(super) fn is_of_paths(&self) -> bool {
        matches!(&*self.source, "{path}" | "{http.request.uri.path}")
    }

    /// Returns the mappings that give a destination a value of its own.
    pub(super) fn giving(&self, name: &str) -> impl Iterator<Item = &Mapping> {
        let place = self.destinations.iter().position(|it| it == name);
        let gives = move |it: &&Mapping| {
            let output = place.and_then(|place| it.outputs[place].as_deref());
            output.is_some_and(|it| !it.is_empty())
        };
        self.mappings.iter().filter(gives)
    }

    /// Returns the paths, or what another map makes of them, for which a destination has a value; `None` if there may be
    /// others.
    pub(super) fn paths_with(&self, name: &str, value: &str) -> Option<Vec<String>> {
        let place = self.destinations.iter().position(|it| it == name)?;
        let may_be_others = !self.may_be_of_paths()
            || !self.patterns.is_empty()
            || self.default(place) == value
            || self.default(place).contains('{');
        let has_value = |it: &&Mapping| it.outputs[place].as_deref() == Some(value);
        let paths = self.mappings.iter().filter(has_value);
        let paths = paths.filter(|it| it.input.starts_with('/'));
        (!may_be_others).then(|| paths.map(|it| it.input.clone()).collect())
    }

    /// Returns the inputs that give a destination a value for a path that begins with a text; `None` if others may.
    pub(super) fn below(&self, name: &str, start: &str) -> Option<Vec<&Mapping>> {
        let place = self.destinations.iter().position(|it| it == name)?;
        let default = self.default(place);
        if !self.is_of_paths() || !self.patterns.is_empty() || !default.is_empty() {
            return None;
        }
        let inside = self.exact.range(start.to_owned()..);
        let inside = inside.take_while(|(path, _)| path.starts_with(start));
        let inside = inside.map(|(_, at)| &self.mappings[*at]);
        let is_set = |it: &&Mapping| it.outputs[place].as_ref().is_some_and(|it| !it.is_empty());
        Some(inside.filter(is_set).collect())
    }

    /// Returns the value of a destination, and the number of the directive that has it; `expand` inserts the values
    /// of placeholders.
    ///
    /// # Errors
    ///
    /// If it depends on more than the path and the query.
    pub(super) fn value(
        &self,
        name: &str,
        expand: &dyn Fn(&str) -> Result<String, RowError>,
    ) -> Result<(String, Option<usize>), RowError> {
        let place = self.destinations.iter().position(|it| it == name);
        let place = place.ok_or(UNREADABLE)?;
        let source = expand(&self.source)?;
        let output = |at: usize| self.mappings[at].outputs[place].as_deref();
        let exact = self.exact.get(&source).copied();
        let exact = exact.filter(|it| output(*it).is_some());
        // The query stands for any other.
        let start = source
            .strip_suffix(QUERY)
            .and_then(|it| it.strip_suffix('?'));
        if let Some(start) = start {
            let start = format!("{start}?");
            let next = self.exact.range(start.clone()..).next();
            if next.is_some_and(|(input, _)| input.starts_with(&start)) {
                return Err(OF_QUERY);
            }
        }
        let near = match start {
            Some(start) => self.index.below(format!("{start}?").as_bytes()),
            None => self.index.near(source.as_bytes()),
        };
        let near = near.ok_or(TOO_MANY)?;
        for at in near.into_iter().map(|it| self.patterns[it]) {
            let Some(text) = output(at).filter(|_| exact.is_none_or(|it| at < it)) else {
                continue;
            };
            let mapping = &self.mappings[at];
            let Some(Pattern::Known(known)) = &mapping.pattern else {
                return Err(UNREADABLE);
            };
            if let Some(groups) = known.groups(source.as_bytes()) {
                return Ok((with_groups(text, &groups)?, Some(mapping.number)));
            }
            let pattern = mapping.pattern.as_ref();
            if start.is_some_and(|it| pattern.is_some_and(|pattern| pattern.may_match_query(it))) {
                return Err(OF_QUERY);
            }
        }
        match exact.and_then(|at| Some((at, output(at)?))) {
            Some((at, text)) => {
                let text = expand(text)?;
                Ok((text, Some(self.mappings[at].number)))
            }
            None => {
                let text = self.default(place);
                match text.contains('{') {
                    true => Err(RowError::Variable(text.to_owned())),
                    false => Ok((text.to_owned(), None)),
                }
            }
        }
    }
}

/// Returns an output of an expression with what its groups matched, by their numbers.
fn with_groups(text: &str, groups: &Groups) -> Result<String, RowError> {
    let unknown = || RowError::Variable(text.to_owned());
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            expanded.push('$');
            rest = after;
            continue;
        }
        let (name, after) = match after.strip_prefix('{') {
            Some(inner) => inner.split_once('}').ok_or_else(unknown)?,
            None => {
                let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
                let end = after.find(|c| !is_of_name(c)).unwrap_or(after.len());
                after.split_at(end)
            }
        };
        let number: usize = name.parse().map_err(|_| unknown())?;
        let group = groups.get(number).cloned().flatten().unwrap_or_default();
        expanded.push_str(&String::from_utf8(group).map_err(|_| RowError::NotUtf8)?);
        rest = after;
    }
    expanded.push_str(rest);
    match expanded.contains('{') {
        true => Err(unknown()),
        false => Ok(expanded),
    }
}
