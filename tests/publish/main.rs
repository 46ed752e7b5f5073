//! Publishing a change to a real repository, while others write to it, refuse it or die.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod checkout;
#[path = "../support/git.rs"]
mod git;
mod program;
mod race;
mod remote;
mod scene;
