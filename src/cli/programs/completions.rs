//! `waypost completions`: prints a shell completion script.

use std::io::{Write as _, stdout};

use clap_complete::Shell;

use crate::cli::terminal::Error;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost completions bash > /etc/bash_completion.d/waypost
  waypost completions fish > ~/.config/fish/completions/waypost.fish")]
pub(in crate::cli) struct Args {
    /// The shell
    shell: Shell,
}

pub(in crate::cli) fn run(args: &Args, mut program: clap::Command) -> Result<(), Error> {
    // Written in one piece, because the generator panics when its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "waypost", &mut script);
    stdout().write_all(&script)?;
    Ok(())
}
