//! `waypost fmt`: converts the documents of a table to canonical form.

use std::io::{Write as _, stderr, stdout};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::builder::BoolishValueParser;

use super::arguments::table;
use super::terminal::{Error, progress};
use crate::edit;
use crate::mapping::{Diagnostic, SourceFile};
use crate::source;

/// Format a table: entries sorted by code, each with its comments
///
/// URLs are put into canonical form unless their code depends on how they are written, and strings
/// that other YAML readers interpret as numbers, dates or booleans are quoted. Everything else
/// stays the same. The meaning of a table never changes, and a table with errors is not changed.
/// Standard input is written to standard output; files are replaced, and named on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost fmt mapping.yaml             format a file in place
  waypost fmt --check links/           list the files of a directory that are not formatted
  git show HEAD:mapping.yaml | waypost fmt - | diff - mapping.yaml

Exit status: 0 done; 1 the table has errors, or with --check a file is not formatted;
2 wrong usage; 3 a file cannot be read or written.")]
pub(super) struct Args {
    /// Change nothing: list the files that are not formatted, one per line
    #[arg(long, env = "WAYPOST_FMT_CHECK", value_parser = BoolishValueParser::new())]
    check: bool,

    /// Files and directories that form one table; `-` is standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let files = table::read(&args.paths, table::MAX_BYTES)?;
    let compilation = table::compile_files(&files);
    if compilation.table.is_none() {
        table::report(&compilation.diagnostics)?;
        return Err(Error::Reported);
    }
    let formatted = match progress::during("formatting", || format_all(&files)) {
        Ok(formatted) => formatted,
        Err(problems) => {
            table::report(&problems)?;
            return Err(Error::Reported);
        }
    };
    let mut is_formatted = true;
    for (file, text) in files.iter().zip(&formatted) {
        let changes = file.bytes != text.as_bytes();
        is_formatted &= !changes;
        if args.check {
            if changes {
                writeln!(stdout(), "{}", file.path)?;
            }
        } else if *file.path == *table::STDIN_NAME {
            stdout().write_all(text.as_bytes())?;
        } else if changes {
            let path = Path::new(&*file.path);
            source::replace(path, text.as_bytes())
                .with_context(|| format!("cannot write {}", file.path))?;
            writeln!(stderr(), "formatted {}", file.path)?;
        }
    }
    match is_formatted || !args.check {
        true => Ok(()),
        false => Err(Error::Reported),
    }
}

/// Formats all documents, or reports all that cannot be formatted.
fn format_all(files: &[SourceFile]) -> Result<Vec<String>, Vec<Diagnostic>> {
    let (mut formatted, mut problems) = (Vec::new(), Vec::new());
    for file in files {
        match edit::format(file) {
            Ok(text) => formatted.push(text),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() {
        Ok(formatted)
    } else {
        Err(problems)
    }
}
