//! A rule and where it is: in which list of which directory.

use super::rule::Rule;
use super::rule_list::RuleList;

/// A rule in the list of its directory.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'s> {
    pub(crate) directory: &'s str,
    pub(crate) list: &'s RuleList,
    pub(crate) number: usize,
}

impl<'s> Placed<'s> {
    pub(crate) fn rule(self) -> &'s Rule {
        &self.list.rules()[self.number]
    }
}
