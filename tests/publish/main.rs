//! Publishing a change to a real repository, while others write to it, refuse it or die.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/bare_remote.rs"]
mod bare_remote;
mod checkout;
mod edits;
mod fixture;
#[path = "../support/git.rs"]
mod git;
mod imports;
mod plain;
mod program;
mod race;
mod receive;
mod remote;
