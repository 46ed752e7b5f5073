//! The variables of a configuration, and texts with them.

use std::collections::HashMap;

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

    fn expand_in(
        &self,
        text: &str,
        request: &Request<'_>,
        depth: usize,
    ) -> Result<String, RowError> {
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
            let group = request.groups.get(number).cloned().flatten();
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
