//! `waypost check`: tells what is wrong with a table, and where.

use std::io::{BufWriter, Write as _, stderr, stdout};
use std::path::PathBuf;
use std::time::SystemTime;

use clap::ValueEnum;

use super::{Exit, table};
use crate::mapping::{Compilation, Timestamp, compile};
use crate::source::read_committed;

/// Check a table: every problem at once, at the line where it is
///
/// Reads the table as `serve` would, and runs the tests that are written in it.
/// Problems go to standard output, one a line, with a hint below.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost check                        check ./mapping.yaml
  waypost check links/ more.yaml       check a directory and a file as one table
  waypost check --rev main:links       check what the branch `main` holds
  waypost check - <mapping.yaml        check standard input

Exit status: 0 the table is sound; 1 it has errors; 2 wrong usage; 3 it cannot be read.")]
pub(super) struct Args {
    /// Files and directories that form one table; `-` is standard input
    #[arg(
        value_name = "PATH",
        env = "WAYPOST_TABLE",
        default_value = "mapping.yaml"
    )]
    paths: Vec<PathBuf>,

    /// Read a file or directory as a commit of this Git repository has it
    #[arg(
        long,
        value_name = "REV:PATH",
        env = "WAYPOST_REV",
        conflicts_with = "paths"
    )]
    rev: Option<String>,

    /// What else counts as an error
    #[arg(long, value_name = "WHAT", env = "WAYPOST_DENY")]
    deny: Option<Deny>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    /// Warnings: for tables that start afresh
    Warnings,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let files = match &args.rev {
        Some(rev) => read_committed(rev, table::MAX_BYTES)?,
        None => table::read(&args.paths)?,
    };
    let mut compilation = compile(&files);
    compilation.run_tests(Timestamp::from(SystemTime::now()));
    let diagnostics = &compilation.diagnostics;
    let mut out = BufWriter::new(stdout().lock());
    for diagnostic in diagnostics {
        writeln!(out, "{diagnostic}")?;
    }
    out.flush()?;
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    let warnings = diagnostics.len() - errors;
    writeln!(stderr(), "{}", summary(&compilation, errors, warnings))?;
    let denied = args.deny == Some(Deny::Warnings) && warnings > 0;
    Ok(if errors > 0 || denied {
        Exit::Refused
    } else {
        Exit::Done
    })
}

fn summary(compilation: &Compilation, errors: usize, warnings: usize) -> String {
    let problems = match (errors, warnings) {
        (0, 0) => "no problems".to_owned(),
        (0, _) => counted(warnings, "warning"),
        (_, 0) => counted(errors, "error"),
        _ => format!(
            "{}, {}",
            counted(errors, "error"),
            counted(warnings, "warning")
        ),
    };
    let Some(table) = &compilation.table else {
        return problems;
    };
    let tests = match compilation.expectations.len() {
        0 => String::new(),
        count => format!(", {} run", counted(count, "test")),
    };
    format!(
        "{}{tests}: {problems}",
        plural(table.len(), "entry", "entries")
    )
}

fn counted(count: usize, noun: &str) -> String {
    plural(count, noun, &format!("{noun}s"))
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
