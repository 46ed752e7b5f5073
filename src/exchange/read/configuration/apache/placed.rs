//! A rule and where it is: in which list of which directory.

use super::rule::Rule;
use super::rule_list::RuleList;

/// A rule in the list of its directory.
#[derive(Clone, Copy)]
pub(super) struct Placed<'s> {
    pub(super) directory: &'s str,
    pub(super) list: &'s RuleList,
    pub(super) number: usize,
}

impl<'s> Placed<'s> {
    pub(super) fn rule(self) -> &'s Rule {
        &self.list.rules()[self.number]
    }
}
