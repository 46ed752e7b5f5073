//! The rules of a list that may match a path, found by the text with which their paths begin.

use super::rule::Rule;
use crate::exchange::read::configuration::pattern_index::PatternIndex;

/// Rules in the order in which they are applied.
#[derive(Default)]
pub(crate) struct RuleList {
    rules: Vec<Rule>,
    index: PatternIndex,
}

impl RuleList {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        let index = PatternIndex::new(rules.iter().map(|rule| rule.pattern.prefix()));
        Self { rules, index }
    }

    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the rules that may match a path, in order; `None` if there are too many.
    pub(crate) fn near(&self, path: &[u8]) -> Option<Vec<usize>> {
        self.index.near(path)
    }

    /// Returns the rules before a number that may match a path that begins with a text; `None` if
    /// there are too many.
    pub(crate) fn before_below(&self, end: usize, start: &[u8]) -> Option<Vec<usize>> {
        let mut found = self.index.below(start)?;
        found.retain(|number| *number < end && self.rules[*number].pattern.may_match_below(start));
        Some(found)
    }
}
