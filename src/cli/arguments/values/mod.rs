//! Values: quantities, rules, and those of the keys of entries.

pub(in crate::cli) mod property;
pub(in crate::cli) mod quantity;
pub(in crate::cli) mod rule;
