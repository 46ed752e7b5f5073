//! `map` blocks whose keys are paths, or which only distinguish whether there is a query.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use super::expressions::expression;
use super::request::Request;
use crate::exchange::read::configuration::nginx::blocks::Block;
use crate::exchange::read::configuration::pattern::Pattern;
use crate::exchange::read::configuration::pattern_index::PatternIndex;
use crate::exchange::read::configuration::pattern_index::TOO_MANY;
use crate::exchange::read::rows::RowError;

/// A value with the line it is on.
pub(super) struct Value {
    pub(super) line: usize,
    /// The key as written: a path or an expression.
    pub(super) key: String,
    pub(super) text: String,
    /// Whether the key is a path, which is found before all expressions.
    pub(super) is_exact: bool,
}

/// What keys are compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Source {
    #[default]
    Path,
    /// The path without a slash at the end.
    PathWithoutSlash,
    /// The path as it was sent, with the query.
    PathAndQuery,
    /// The query, of which it only counts whether it is empty.
    Query,
}

/// A map.
#[derive(Default)]
pub(super) struct Map {
    /// By the path in lower case, because nginx ignores the case of letters in keys.
    pub(super) exact: BTreeMap<String, Value>,
    pub(super) patterns: Vec<(Pattern, Value)>,
    index: PatternIndex,
    pub(super) default: Option<Value>,
    source: Source,
    /// The expression whose first group is a path without the slash at its end.
    before_slash: Option<Pattern>,
    /// Why other values may be in it that are not known.
    pub(super) is_partial: Option<RowError>,
}

const OF_QUERY: RowError = RowError::NoLink("a short link does not depend on the query");

const INCLUDED: RowError = RowError::NoLink("a file that is included is not read");

impl Map {
    /// Reads a block; returns the name of its variable, too, or `None` if it is another map.
    pub(super) fn of(
        block: &Block,
        path_without_slash: Option<&PathWithoutSlash<'_>>,
        refuse: &mut dyn FnMut(usize, RowError),
    ) -> Option<(String, Self)> {
        let words = block.named("map")?;
        let [source, variable] = words[..] else {
            return None;
        };
        let source = match source {
            "$uri" | "$document_uri" => Source::Path,
            "$request_uri" => Source::PathAndQuery,
            "$args" | "$query_string" => Source::Query,
            source => {
                let variable = source.strip_prefix('$')?;
                path_without_slash.filter(|it| it.variable == variable)?;
                Source::PathWithoutSlash
            }
        };
        let mut map = Self {
            source,
            before_slash: path_without_slash.map(|it| expression(it.written, false)),
            ..Self::default()
        };
        for pair in &block.inner {
            let words: Vec<_> = pair.words.iter().map(String::as_str).collect();
            let value = |key: &str, text: &str| Value {
                line: pair.line,
                key: key.to_owned(),
                text: text.to_owned(),
                is_exact: false,
            };
            match words[..] {
                ["hostnames" | "volatile"] => {}
                ["include", _] => {
                    refuse(pair.line, INCLUDED);
                    map.is_partial = Some(INCLUDED);
                }
                ["default", text] => map.default = Some(value("", text)),
                [key, text] => match key.strip_prefix('~') {
                    Some(written) => {
                        let pattern = match written.strip_prefix('*') {
                            Some(written) => expression(written, true),
                            None => expression(written, false),
                        };
                        map.patterns.push((pattern, value(written, text)));
                    }
                    // A backslash precedes a key that would otherwise mean something else.
                    None => {
                        let key = key.strip_prefix('\\').unwrap_or(key);
                        let decoded = match map.source {
                            Source::PathAndQuery => percent_decode_str(key).decode_utf8_lossy(),
                            Source::Path | Source::PathWithoutSlash | Source::Query => key.into(),
                        };
                        let mut value = value(&decoded, text);
                        value.is_exact = true;
                        map.exact
                            .entry(decoded.to_ascii_lowercase())
                            .or_insert(value);
                    }
                },
                _ => refuse(pair.line, RowError::NoLink("this is not a path and a URL")),
            }
        }
        // One query has no answer of its own in a table.
        let is_any = map.exact.keys().all(String::is_empty) && !map.may_match();
        if source == Source::Query && !is_any {
            return None;
        }
        map.index = PatternIndex::new(map.patterns.iter().map(|(it, _)| it.prefix()));
        Some((variable.strip_prefix('$')?.to_owned(), map))
    }

    /// Returns whether its keys are paths.
    pub(super) fn is_of_paths(&self) -> bool {
        self.source != Source::Query
    }

    /// Returns whether an expression may be compared with a path, which sets the groups.
    pub(super) fn may_match(&self) -> bool {
        !self.patterns.is_empty() || self.is_partial.is_some()
    }

    /// Returns the value for a request, whose groups become those of the key.
    pub(super) fn value(&self, request: &mut Request<'_>) -> Result<String, RowError> {
        Ok(self
            .found(request)?
            .map_or(String::new(), |it| it.text.clone()))
    }

    /// Returns the value for a request with its line.
    pub(super) fn found(&self, request: &mut Request<'_>) -> Result<Option<&Value>, RowError> {
        let key = match self.source {
            Source::PathAndQuery if !request.query.is_empty() => {
                format!("{}?{}", request.path, request.query)
            }
            Source::Path | Source::PathAndQuery => request.path.to_owned(),
            Source::PathWithoutSlash => self.without_slash(request.path),
            Source::Query => request.query.to_owned(),
        };
        // nginx keeps a value from where it is first used, with the groups that there were there.
        request.groups = None;
        if self.source == Source::PathAndQuery {
            let start = format!("{}?", request.path).to_ascii_lowercase();
            let next = self.exact.range(start.clone()..).next();
            if next.is_some_and(|(key, _)| key.starts_with(&start)) {
                return Err(OF_QUERY);
            }
        }
        if let Some(value) = self.exact.get(&key.to_ascii_lowercase()) {
            return Ok(Some(value));
        }
        if let Some(reason) = &self.is_partial {
            return Err(reason.clone());
        }
        // The query stands for any other.
        let is_any_query = self.source == Source::PathAndQuery && !request.query.is_empty();
        let near = match is_any_query {
            true => self.index.below(format!("{}?", request.path).as_bytes()),
            false => self.index.near(key.as_bytes()),
        };
        let near = near.ok_or(TOO_MANY)?;
        for number in near {
            let (pattern, value) = &self.patterns[number];
            let Pattern::Known(known) = pattern else {
                return Err(RowError::NoLink("this expression cannot be read"));
            };
            if let Some(groups) = known.groups(key.as_bytes()) {
                request.groups = Some(groups);
                return Ok(Some(value));
            }
            if is_any_query && pattern.may_match_query(request.path) {
                return Err(OF_QUERY);
            }
        }
        Ok(self.default.as_ref())
    }

    /// Returns a path without the slash at its end.
    fn without_slash(&self, path: &str) -> String {
        let groups = match &self.before_slash {
            Some(Pattern::Known(known)) => known.groups(path.as_bytes()),
            _ => None,
        };
        let before = groups.and_then(|it| it.get(1).cloned().flatten());
        let before = before.and_then(|it| String::from_utf8(it).ok());
        before.unwrap_or_else(|| path.to_owned())
    }

    /// Returns the values that may be found for a path that begins with a text; `None` if there are
    /// too many, or unknown ones.
    pub(super) fn below<'m>(&'m self, start: &str) -> Option<Vec<&'m Value>> {
        if self.is_partial.is_some() || self.source == Source::Query {
            return None;
        }
        let folded = start.to_ascii_lowercase();
        let exact = self.exact.range(folded.clone()..);
        let exact = exact.take_while(|(key, _)| key.starts_with(&folded));
        let mut found: Vec<_> = exact.map(|(_, value)| value).collect();
        if self.source == Source::PathWithoutSlash {
            let path = self.without_slash(start).to_ascii_lowercase();
            found.extend(self.exact.get(&path));
        }
        for number in self.index.below(start.as_bytes())? {
            let (pattern, value) = &self.patterns[number];
            if pattern.may_match_below(start.as_bytes()) {
                found.push(value);
            }
        }
        found.extend(self.default.as_ref().filter(|it| !it.text.is_empty()));
        Some(found)
    }
}

/// A variable with the path without a slash at the end, as exports of Waypost have one.
pub(super) struct PathWithoutSlash<'b> {
    pub(super) variable: &'b str,
    /// The expression of the paths that end in one; the first group is what precedes it.
    written: &'b str,
}

impl<'b> PathWithoutSlash<'b> {
    /// Returns the variable that a block defines, if it is one.
    pub(super) fn of(block: &'b Block) -> Option<Self> {
        let ["$uri", variable] = block.named("map")?[..] else {
            return None;
        };
        let [removal, default] = &block.inner[..] else {
            return None;
        };
        let [key, "$1"] = removal.words.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
            return None;
        };
        let written = key.strip_prefix('~')?;
        let is_expected = written.starts_with("^(/")
            && written.ends_with(".*[^/])/\\z")
            && default.words == ["default", "$uri"];
        let variable = variable.strip_prefix('$').filter(|_| is_expected)?;
        Some(Self { variable, written })
    }
}
