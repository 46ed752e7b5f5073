//! Waypost: a URL shortener whose only database is a Git repository.
//!
//! The mapping table (short code → long URL) is a YAML file that anyone can read, fork and change
//! by pull request. This crate checks the table, serves it, and keeps serving while it changes.
//!
//! The layers, each of which may use only those below it: [`cli`] → [`server`] → [`registry`] →
//! [`source`] → [`git`] and [`mapping`], with [`edit`], [`exchange`] and [`history`] next to the
//! source, and [`linkcheck`] beside them, above [`frontier`]. [`html`] is below all that has
//! pages, and `valkey` below all that shares something on a server.
//! `docs/architecture.md` has the details.

pub mod cli;
pub mod edit;
pub mod exchange;
pub mod frontier;
pub mod git;
pub mod history;
pub mod html;
pub mod linkcheck;
pub mod mapping;
pub mod registry;
pub mod server;
pub mod source;
#[cfg(feature = "valkey")]
pub mod valkey;
