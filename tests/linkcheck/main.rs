//! Link checking against a farm of fake hosts.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/farm/mod.rs"]
mod farm;

mod asking;
mod checking;
mod inquiries;
mod interposed;
mod reaching;
mod scene;
mod truth;
mod watching;
mod web;
