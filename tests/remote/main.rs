//! Remote repositories, followed as a server does: with real `git` on the other side.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod attempts;
#[path = "../support/bare_remote.rs"]
mod bare_remote;
mod daemon;
mod damage;
mod fixture;
mod follow;
#[path = "../support/git.rs"]
mod git;
mod hostile;
mod packs;
mod pull;
#[path = "../support/mod.rs"]
mod support;
mod tables;
