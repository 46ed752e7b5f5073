//! The rules of a list that may match a path, found by the text with which their paths begin.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::rule::Rule;

/// The maximum number of rules that are compared with a path, which bounds the effort.
const MOST_RULES: usize = 1000;

/// Rules in the order in which they are applied.
#[derive(Default)]
pub(super) struct RuleList {
    rules: Vec<Rule>,
    by_prefix: BTreeMap<Vec<u8>, Vec<usize>>,
}

impl RuleList {
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        let mut by_prefix: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (number, rule) in rules.iter().enumerate() {
            let prefix = rule.pattern.prefix().to_vec();
            by_prefix.entry(prefix).or_default().push(number);
        }
        Self { rules, by_prefix }
    }

    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the rules that may match a path, in order; `None` if there are too many.
    pub(super) fn near(&self, path: &[u8]) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for end in 0..=path.len() {
            found.extend(self.by_prefix.get(&path[..end]).into_iter().flatten());
            if found.len() > MOST_RULES {
                return None;
            }
        }
        found.sort_unstable();
        Some(found)
    }

    /// Returns the rules before a number that may match a path that begins with a text; `None` if
    /// there are too many.
    pub(super) fn before_below(&self, end: usize, start: &[u8]) -> Option<Vec<usize>> {
        let mut found = self.near(start)?;
        let after = (Bound::Excluded(start), Bound::Unbounded);
        for (prefix, numbers) in self.by_prefix.range::<[u8], _>(after) {
            if !prefix.starts_with(start) {
                break;
            }
            found.extend(numbers);
            if found.len() > MOST_RULES {
                return None;
            }
        }
        found.retain(|number| *number < end && self.rules[*number].pattern.may_match_below(start));
        found.sort_unstable();
        Some(found)
    }
}
