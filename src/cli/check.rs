//! `waypost check`: reports the problems of a table, and their places.
//!
//! The findings are the same for every format.

mod json;
mod owned;
mod promised;

use std::io::Write;
use std::path::PathBuf;
use std::time::SystemTime;

use super::arguments::{PathArgs, quantity, table};
use super::report::{self, Findings, Levels, ReportFormat};
use super::terminal::{Error, complain, counted, progress};
use crate::git::{RepositoryError, RevPath};
use crate::history::{HistoryError, Lineage};
use crate::mapping::{SourceFile, Timestamp};
use crate::source::{FileSource, FilesError};

/// Check a table, and report every problem with its position
///
/// Reads the table as `serve` would, and runs the tests that are written in it.
/// Problems go to standard output, each with its position and a hint.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost check                        check ./mapping.yaml
  waypost check links/ more.yaml       check a directory and a file as one table
  waypost check --rev main:links       check the table on the branch `main`
  waypost check - <mapping.yaml        check standard input
  waypost check --base main            also check that no published link breaks
  waypost check --history              the same for every link ever published
  waypost check --base main --author alice
                                       also check that alice may change these entries
  waypost check --deny warnings --allow url-private-address
                                       fail for all warnings except one kind

Exit status: 0 the table is valid; 1 it has errors; 2 wrong usage; 3 it cannot be read.")]
pub(super) struct Args {
    #[command(flatten)]
    table: PathArgs,

    /// Read a file or directory from a commit of this Git repository
    #[arg(
        long,
        value_name = "REV:PATH",
        env = "WAYPOST_REV",
        conflicts_with = "paths"
    )]
    rev: Option<String>,

    #[command(flatten)]
    promised: promised::Args,

    #[command(flatten)]
    owned: owned::Args,

    /// The maximum size of the table's text
    #[arg(long, value_name = "BYTES", env = "WAYPOST_MAX_TABLE_BYTES", default_value = table::DEFAULT_MAX_TABLE_BYTES, value_parser = table::max_bytes)]
    max_table_bytes: u64,

    #[command(flatten)]
    levels: Levels,

    /// How many problems of each rule in each file are listed, or `all` [default: 1000]
    #[arg(long, value_name = "N", env = "WAYPOST_MAX_PROBLEMS", value_parser = quantity::max_problems)]
    max_problems: Option<usize>,

    /// The output format
    #[arg(
        long,
        value_name = "FORMAT",
        env = "WAYPOST_FORMAT",
        default_value = "human"
    )]
    format: ReportFormat,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    if args.promised.look_back() && args.rev.is_none() {
        table::require_history(&args.table.paths)?;
    }
    let findings = find(args)?;
    let json = |out: &mut dyn Write| json::write(&findings, out);
    report::finish(&findings, &summary(&findings), |out| {
        args.format.write(&findings, "check", json, out)
    })
}

/// Reads and checks the table, unless it contains something that must not be read.
fn find(args: &Args) -> Result<Findings, Error> {
    let max = args.max_table_bytes;
    let levels = args.levels.clone();
    if args.rev.is_none() && !args.promised.look_back() {
        return find_alone(args);
    }
    let (mut files, lineage, owners) = match &args.rev {
        Some(rev) => {
            let found = RevPath::find(rev)?;
            let read = || Lineage::of_commit(found, max);
            let (lineage, files) = progress::during(format!("reading {rev}"), read)
                .map_err(table::name_limit(RepositoryError::is_too_large))?;
            let owners = args.owned.path_in_commit(&lineage)?;
            let owners = owners.map(|path| lineage.owners_file(path)).transpose()?;
            (files, lineage, owners)
        }
        None => {
            let lineage = Lineage::of_work_tree(&args.table.paths, "HEAD", max)?;
            let owners = args.owned.path_in_work_tree(&lineage)?;
            let mut paths = args.table.paths.clone();
            paths.extend(owners.iter().map(|path| path.as_shown().to_owned()));
            let refused = table::refuse_links(lineage.repository(), &paths)?;
            if !refused.is_empty() {
                return Ok(Findings::refused(refused, levels));
            }
            let owners = owners.map(|path| owned::in_work_tree(path, max));
            let files = read(&there_now(&args.table.paths, max), max)?;
            (files, lineage, owners.transpose()?)
        }
    };
    // Other versions of the table follow.
    let mut compilation = match args.max_problems {
        Some(most) => table::compile_listing(&files, most),
        None => table::compile_version(&files, None),
    };
    let now = Timestamp::from(SystemTime::now());
    compilation.run_tests(now);
    if let Some(table) = &compilation.table {
        let too_large = table::name_limit(HistoryError::is_too_large);
        let past = args.promised.findings(table, &lineage, now);
        let (mut found, before) = past.map_err(&too_large)?;
        if let (Some(base), Some(owners)) = (args.promised.base(), owners) {
            let refused = args
                .owned
                .refused(base, &owners, (before.as_ref(), table), &lineage);
            found.extend(refused.map_err(&too_large)?);
            files.extend(owners.proposed);
        }
        compilation.add(found);
    }
    Ok(Findings::new(files, compilation, levels))
}

/// Checks the table without its past. Its text is only read for the lines of problems.
fn find_alone(args: &Args) -> Result<Findings, Error> {
    let (paths, max) = (&args.table.paths, args.max_table_bytes);
    if let Some(most) = args.max_problems {
        let files = read(paths, max)?;
        let mut compilation = table::compile_listing(&files, most);
        compilation.run_tests(Timestamp::from(SystemTime::now()));
        return Ok(Findings::new(files, compilation, args.levels.clone()));
    }
    let compiled = table::compile_once(paths, max);
    let compiled = compiled.map_err(table::name_limit(FilesError::is_too_large))?;
    let (mut compilation, mut files) = (compiled.compilation, compiled.files);
    compilation.run_tests(Timestamp::from(SystemTime::now()));
    if compiled.lacks_text && !compilation.diagnostics.is_empty() {
        files = read(paths, max)?;
    }
    Ok(Findings::new(files, compilation, args.levels.clone()))
}

fn read(paths: &[PathBuf], max: u64) -> Result<Vec<SourceFile>, Error> {
    table::read(paths, max).map_err(table::name_limit(FilesError::is_too_large))
}

/// Returns the paths at which there is a table now; all, if there is none at any.
///
/// Former files of a table are still named, to look back at their content.
fn there_now(paths: &[PathBuf], max_bytes: u64) -> Vec<PathBuf> {
    let (gone, there): (Vec<_>, Vec<_>) = (paths.iter().cloned())
        .partition(|path| FileSource::new(vec![path.clone()], max_bytes).is_absent());
    if there.is_empty() {
        return gone;
    }
    for path in gone {
        complain(&format!(
            "no table is at {} now: checking what was published there",
            path.display()
        ));
    }
    there
}

fn summary(findings: &Findings) -> String {
    let (errors, warnings) = (findings.errors(), findings.warnings());
    let denied = match findings.denied() {
        0 => String::new(),
        count => format!(" ({count} denied)"),
    };
    let problems = match (errors, warnings) {
        (0, 0) => "no problems".to_owned(),
        (0, _) => format!("{}{denied}", counted(warnings, "warning", "warnings")),
        (_, 0) => counted(errors, "error", "errors"),
        _ => format!(
            "{}, {}{denied}",
            counted(errors, "error", "errors"),
            counted(warnings, "warning", "warnings")
        ),
    };
    let Some(entries) = findings.entries() else {
        return problems;
    };
    let tests = match findings.tests_run() {
        0 => String::new(),
        count => format!(", {} run", counted(count, "test", "tests")),
    };
    format!(
        "{}{tests}: {problems}",
        counted(entries, "entry", "entries")
    )
}
