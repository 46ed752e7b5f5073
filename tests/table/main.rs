//! Tables as text: what they mean, what is wrong with them, and how they are changed and merged.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod edit;
mod entry_edits;
#[path = "../support/git.rs"]
mod git;
mod hostile;
mod insert;
mod merge;
mod names;
mod obo;
mod pairs;
mod reported;
mod resolve;
mod rules;
mod schema;
mod search;
mod shadowing;
mod signers;
mod source;
mod suggestions;
mod tables;
