//! `waypost transfer`: one fetch, in a separate process that can be killed.
//!
//! Internal: it is run by a server that follows a remote. It calls `source::run_transfer`.

use std::io::{BufReader, stdin, stdout};

use anyhow::Context as _;

use crate::cli::terminal::Error;
use crate::git::run_transfer;

/// Fetch or push once, as described on standard input
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(in crate::cli) struct Args {}

pub(in crate::cli) fn run(_: &Args) -> Result<(), Error> {
    run_transfer(BufReader::new(stdin()), stdout()).context("cannot read what to fetch")?;
    Ok(())
}
