//! Registering over HTTP, on a real server that follows a real repository.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/bare_remote.rs"]
mod bare_remote;
mod clone;
mod edited;
mod fixture;
#[path = "../support/git.rs"]
mod git;
mod groups;
mod killed;
mod link_checks;
mod proposed;
mod refused;
mod registered;
mod schema;
mod start;
#[path = "../support/mod.rs"]
mod support;
mod trouble;
#[allow(dead_code, reason = "tests/linkcheck uses the rest")]
#[path = "../linkcheck/web.rs"]
mod web;
