//! The commands as people and scripts run them; of `serve`, how it starts.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod add;
mod check;
mod cli;
mod console;
mod contributing;
mod diff;
mod docs;
mod editing;
mod explain;
mod export;
#[path = "../support/fixture.rs"]
mod fixture;
#[path = "../support/git.rs"]
mod git;
mod import;
mod init;
mod levels;
mod owners;
mod permanence;
mod progress;
mod proposals;
mod replay;
mod round_trip;
mod serve;
#[path = "../support/transcript.rs"]
mod transcript;
mod tutorial;
mod workspace;
