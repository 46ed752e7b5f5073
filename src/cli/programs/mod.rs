//! Commands that people rarely call: Git, shells, packages and the program itself do.

pub(super) mod completions;
pub(super) mod man;
pub(super) mod merge_driver;
pub(super) mod transfer;
