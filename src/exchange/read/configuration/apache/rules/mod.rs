//! Rules as Apache reads them, with their conditions, in the directories of a tree.

pub(crate) mod conditions;
pub(crate) mod directory;
pub(crate) mod lines;
pub(crate) mod matchers;
pub(crate) mod placed;
pub(crate) mod refused_lines;
pub(crate) mod rule;
pub(crate) mod rule_list;
pub(crate) mod substitution;
pub(crate) mod variables;
mod virtual_hosts;
