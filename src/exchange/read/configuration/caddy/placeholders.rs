//! Placeholders in texts, and their values.

use std::collections::{HashMap, HashSet};

use super::maps::Map;
use super::request::{Request, only_placeholder};
use crate::exchange::read::rows::{RowError, excerpt};

/// How deep the maps may be whose values have placeholders of other maps.
const MOST_MAPS: usize = 8;

/// The placeholders that a site defines.
#[derive(Default)]
pub(super) struct Variables {
    maps: Vec<Map>,
    by_name: HashMap<String, usize>,
    /// Those that are defined more than once, or under a condition.
    unknown: HashSet<String>,
}

impl Variables {
    /// Adds a map that applies to every request.
    pub(super) fn add(&mut self, map: Map) {
        for name in &map.destinations {
            if self.by_name.insert(name.clone(), self.maps.len()).is_some() {
                self.unknown.insert(name.clone());
            }
        }
        self.maps.push(map);
    }

    /// Makes the values of maps unknown that compare what another map makes of the query.
    pub(super) fn forget_maps_of_queries(&mut self) {
        let of_query = self.maps.iter().filter(|it| it.depends_on_query());
        let names: Vec<_> = of_query.flat_map(|it| &it.destinations).collect();
        let depends = |map: &&Map| names.iter().any(|name| map.has_in_source(name));
        let unknown = self.maps.iter().filter(depends);
        let unknown: Vec<_> = unknown.flat_map(|it| it.destinations.clone()).collect();
        self.unknown.extend(unknown);
    }

    /// Notes a placeholder whose value is not known.
    pub(super) fn add_unknown(&mut self, name: &str) {
        self.unknown.insert(name.to_owned());
    }

    /// Returns the map that defines a placeholder.
    pub(super) fn map(&self, name: &str) -> Option<&Map> {
        let is_known = !self.unknown.contains(name);
        let at = self.by_name.get(name).filter(|_| is_known)?;
        self.maps.get(*at)
    }

    /// Returns a text with the values of its placeholders.
    ///
    /// # Errors
    ///
    /// If it depends on more than the path and the query.
    pub(super) fn expand(&self, text: &str, request: &Request<'_>) -> Result<String, RowError> {
        self.expanded(text, request, 0)
    }

    /// Returns a text with the values of its placeholders, in a map at some depth.
    pub(super) fn expanded(
        &self,
        text: &str,
        request: &Request<'_>,
        depth: usize,
    ) -> Result<String, RowError> {
        let unknown = || RowError::Variable(excerpt(text));
        let mut expanded = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '\\']) {
            expanded.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            if rest[at..].starts_with('\\') {
                // Only braces are escaped.
                let is_escaped = after.starts_with(['{', '}']);
                expanded.push_str(if is_escaped { &after[..1] } else { "\\" });
                rest = &after[usize::from(is_escaped)..];
                continue;
            }
            let Some((name, after)) = after.split_once('}') else {
                return Err(unknown());
            };
            if name.contains(['{', '\\']) {
                return Err(unknown());
            }
            let value = match request.value(name) {
                Some(value) if !self.by_name.contains_key(name) && !self.unknown.contains(name) => {
                    value.into_owned()
                }
                _ => {
                    let map = self.map(name).filter(|_| depth < MOST_MAPS);
                    let map = map.ok_or_else(unknown)?;
                    map.value(name, &|text| self.expanded(text, request, depth + 1))?
                        .0
                }
            };
            expanded.push_str(&value);
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    /// Returns the number of the mapping that gives a text its value for a request, if the text is a placeholder.
    pub(super) fn mapping(&self, text: &str, request: &Request<'_>) -> Option<usize> {
        let name = only_placeholder(text)?;
        let value = self
            .map(name)?
            .value(name, &|text| self.expanded(text, request, 1));
        value.ok()?.1
    }
}
