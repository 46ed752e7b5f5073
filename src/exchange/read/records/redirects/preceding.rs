//! The rules that come before one, and decide some of its paths.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::paths::RulePaths;

/// The rules of the preceding lines, each with its description for messages.
#[derive(Default)]
pub(super) struct Preceding {
    /// Those with a placeholder or `*`, by what is before it.
    patterns: BTreeMap<String, Vec<(RulePaths, String)>>,
    /// Those for one path that are no links.
    refused: BTreeMap<String, String>,
    /// The starts of those with a placeholder or `*` that are no links, with a slash at their end.
    refused_below: BTreeMap<String, String>,
}

impl Preceding {
    /// Adds a rule after those before it.
    pub(super) fn add(&mut self, from: &str, paths: RulePaths, is_link: bool) {
        let by = format!("the rule for {from}");
        let start = paths.start();
        if !is_link {
            let refused = match paths.is_one() {
                true => self.refused.entry(start.clone()),
                false => self.refused_below.entry(format!("{start}/")),
            };
            refused.or_insert_with(|| by.clone());
        }
        if !paths.is_one() {
            self.patterns.entry(start).or_default().push((paths, by));
        }
    }

    /// Returns the rule that decides one of the paths of a link, where a table would not do the same: the one
    /// of a link for one path, or for all paths below it, precedes what is above it here as well.
    pub(super) fn deciding(&self, paths: &RulePaths) -> Option<&str> {
        let start = paths.start();
        let ends = start.match_indices('/').map(|(at, _)| at);
        let above = ends.chain([start.len()]).map(|end| &start[..end]);
        let mut patterns = above.filter_map(|it| self.patterns.get(it)).flatten();
        let pattern = patterns.find(|(other, _)| other.meet(paths));
        let below = format!("{start}/");
        let below = || match paths.is_one() {
            true => None,
            false => first_below(&self.refused, &below)
                .or_else(|| first_below(&self.refused_below, &below)),
        };
        let pattern = pattern.map(|(_, by)| by);
        let found = pattern.or_else(|| self.refused.get(&start)).or_else(below);
        found.map(String::as_str)
    }
}

/// Returns the first rule whose path begins with a text.
fn first_below<'r>(rules: &'r BTreeMap<String, String>, below: &str) -> Option<&'r String> {
    let from = Bound::Included(below);
    let (path, by) = rules.range::<str, _>((from, Bound::Unbounded)).next()?;
    path.starts_with(below).then_some(by)
}
