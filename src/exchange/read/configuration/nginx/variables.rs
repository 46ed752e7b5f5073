//! The variables of a configuration, and texts with them.

use std::collections::{HashMap, HashSet};

use super::maps::Map;
use super::request::Request;
use crate::exchange::read::rows::{RowError, excerpt};

/// How deep the maps may be whose values have other maps' variables.
const MOST_MAPS: usize = 8;

/// The variables of a configuration.
#[derive(Default)]
pub(super) struct Variables {
    /// Those with one value.
    pub(super) constants: HashMap<String, String>,
    pub(super) maps: HashMap<String, Map>,
    /// Those that the configuration defines otherwise, or more than once.
    pub(super) unknown: HashSet<String>,
}

impl Variables {
    /// Returns a text with the values of its variables.
    ///
    /// # Errors
    ///
    /// If it depends on more than the path and the query.
    pub(super) fn expand(&self, text: &str, request: &Request<'_>) -> Result<String, RowError> {
        self.expand_in(text, request, 0)
    }

    /// Returns whether a directive changes the query.
    pub(super) fn changes_query(&self) -> bool {
        self.unknown.contains("args")
    }

    /// Returns whether the values of a text's variables depend on what expressions of maps match, which
    /// sets the groups.
    pub(super) fn may_match(&self, text: &str) -> bool {
        names(text).any(|name| {
            let map = self.maps.get(name);
            map.is_some_and(Map::may_match) || self.unknown.contains(name)
        })
    }

    fn expand_in(
        &self,
        text: &str,
        request: &Request<'_>,
        depth: usize,
    ) -> Result<String, RowError> {
        if self.may_match(text) && numbers(text) {
            // The map's expressions replace the groups before the text has them.
            return Err(RowError::Variable(excerpt(text)));
        }
        let mut expanded = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            expanded.push_str(before);
            let (name, after) = name(after);
            let value = self.value(name, request, depth)?;
            let value = value.ok_or_else(|| RowError::Variable(excerpt(text)))?;
            expanded.push_str(&value);
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    /// Returns the value of a variable, without its dollar sign; `None` if it depends on more than the
    /// path and the query.
    fn value(
        &self,
        name: &str,
        request: &Request<'_>,
        depth: usize,
    ) -> Result<Option<String>, RowError> {
        let number = name.parse::<usize>().ok().filter(|it| *it < 10);
        if let Some(number) = number {
            let Some(groups) = &request.groups else {
                return Ok(None);
            };
            let group = groups.get(number).cloned().flatten();
            let text = String::from_utf8(group.unwrap_or_default());
            return text.map(Some).map_err(|_| RowError::NotUtf8);
        }
        if let Some(value) = self.constants.get(name) {
            return Ok(Some(value.clone()));
        }
        if let Some(map) = self.maps.get(name).filter(|_| depth < MOST_MAPS) {
            let mut request = request.clone();
            let value = map.value(&mut request)?;
            return self.expand_in(&value, &request, depth + 1).map(Some);
        }
        let is_of_query = ["args", "query_string", "is_args"].contains(&name);
        if self.unknown.contains(name) || is_of_query && self.changes_query() {
            return Ok(None);
        }
        let mark = if request.query.is_empty() { "" } else { "?" };
        Ok(match name {
            "uri" | "document_uri" => Some(request.path.to_owned()),
            "request_uri" => Some(format!("{}{mark}{}", request.path, request.query)),
            "args" | "query_string" => Some(request.query.to_owned()),
            "is_args" => Some(mark.to_owned()),
            _ => None,
        })
    }
}

/// Returns the names of the variables in a text.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).map(|after| name(after).0)
}

/// Returns whether a text has groups of an expression, by their numbers.
fn numbers(text: &str) -> bool {
    names(text).any(|it| it.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the name of the variable that a text consists of.
pub(super) fn only_variable(text: &str) -> Option<&str> {
    let (name, rest) = name(text.strip_prefix('$')?);
    rest.is_empty().then_some(name)
}

/// Returns the name of a variable at the beginning of a text, and what follows it.
fn name(text: &str) -> (&str, &str) {
    if let Some((name, rest)) = text.strip_prefix('{').and_then(|it| it.split_once('}')) {
        return (name, rest);
    }
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = match text.starts_with(|c: char| c.is_ascii_digit()) {
        true => 1,
        false => text.find(|c| !is_of_name(c)).unwrap_or(text.len()),
    };
    text.split_at(end)
}
