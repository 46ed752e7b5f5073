//! `waypost diff`: reports the semantic changes of a table.

mod comparison;
mod human;
mod json;
mod markdown;

use std::io::{self, BufWriter, Write as _, stderr, stdout};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::ValueEnum;

use self::comparison::Comparison;
use super::arguments::{MAX_BYTES, TableArgs, table};
use super::terminal::{Error, legible, progress, remedy};
use crate::git::{CommitId, RepositoryError};
use crate::history::Lineage;
use crate::mapping::{Change, Compilation, SourceFile, compare, compare_sites};
use crate::source::{FileSource, FilesError};

/// Show what a change to a table means: links removed, retargeted, added
///
/// Compares the table at the commit where HEAD branched off from BASE with the one at HEAD, or in the
/// work tree, so that links merged into BASE since then are not reported as removed.
/// Moving lines or files is not a change.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost diff main                    what the work tree changes compared with main
  waypost diff main topic              what the branch topic changes
  waypost diff HEAD                    what is not committed yet
  waypost diff --format markdown origin/main HEAD

Exit status: 0 whether or not there are changes; 1 a table has errors; 2 wrong usage; 3 Git or
the file system failed.")]
pub(super) struct Args {
    /// The branch, tag or commit that the change is to be merged into
    #[arg(value_name = "BASE")]
    base: String,

    /// The branch, tag or commit with the change, instead of the work tree
    #[arg(value_name = "HEAD")]
    head: Option<String>,

    #[command(flatten)]
    table: TableArgs,

    /// The output format
    #[arg(
        long,
        value_name = "FORMAT",
        env = "WAYPOST_DIFF_FORMAT",
        default_value = "human"
    )]
    format: DiffFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// For a terminal
    Human,
    /// A summary that a bot can post on a pull request
    Markdown,
    /// For programs
    Json,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let first = args
        .table
        .paths
        .first()
        .map_or(Path::new("."), PathBuf::as_path);
    let tip = args.head.as_deref().unwrap_or("HEAD");
    let lineage = Lineage::of_work_tree(&args.table.paths, tip, MAX_BYTES).map_err(unknown)?;
    let repository = lineage.repository();
    if args.head.is_none() && repository.is_bare() {
        return Err(Error::usage(
            "a bare repository has no work tree: name HEAD as well",
        ));
    }
    let head = args.head.as_ref().map(|_| lineage.tip());
    let base = lineage.branch_point(&args.base).map_err(unknown)?;
    if args.head.is_none() {
        let refused = table::refuse_links(repository, &args.table.paths)?;
        if !refused.is_empty() {
            table::report(&refused)?;
            return Err(Error::Reported);
        }
    }
    let read = |commit: CommitId| {
        let what = format!("reading {}", commit.short());
        progress::during(what, || lineage.files_at(commit))
    };
    let old = read(base)?;
    let new = match head {
        Some(head) => read(head)?,
        None => read_work_tree(&args.table.paths)?,
    };
    if old.is_empty() && new.is_empty() {
        let shown = first.display();
        let message = anyhow!("no table at {shown} on either side: name it with --table");
        return Err(Error::Failed(message).with_hint(remedy::of_missing_table(first)));
    }
    let old = table::compile_version(&old, None);
    let new = table::compile_version(&new, old.table.as_ref());
    let (Some(before), Some(now)) = (&old.table, &new.table) else {
        report_errors(&old, &new, base)?;
        return Err(Error::Reported);
    };
    let comparison = Comparison {
        base,
        head,
        changes: progress::during("comparing", || compare(before, now)),
        sites: compare_sites(before, now),
        has_several_sites: before.sites().len().max(now.sites().len()) > 1,
    };
    let mut out = BufWriter::new(stdout().lock());
    match args.format {
        DiffFormat::Human => human::write(&mut out, &comparison)?,
        DiffFormat::Markdown => markdown::write(&mut out, &comparison)?,
        DiffFormat::Json => json::write(&mut out, &comparison)?,
    }
    out.flush()?;
    writeln!(stderr(), "{}", comparison.summary())?;
    Ok(())
}

/// Returns the error of a revision that is not known, with a hint if it is the path of a table.
fn unknown(error: RepositoryError) -> Error {
    match &error {
        RepositoryError::UnknownRevision { revision } if Path::new(revision).exists() => {
            let revision = legible(revision).into_owned();
            Error::usage(format!(
                "{error}\n  hint: to compare the table at that path, name it with --table {revision}"
            ))
        }
        _ => error.into(),
    }
}

/// Writes the changes between two tables that are not both committed.
pub(super) fn show(
    out: &mut impl io::Write,
    changes: &[Change<'_>],
    has_several_sites: bool,
) -> io::Result<()> {
    human::write_changes(out, changes, has_several_sites, |change| {
        change
            .place()
            .map(|place| place.to_string())
            .unwrap_or_default()
    })
}

/// Reads the table in the work tree: no files if it no longer exists.
fn read_work_tree(paths: &[PathBuf]) -> Result<Vec<SourceFile>, FilesError> {
    let mut files = Vec::new();
    for path in paths {
        match FileSource::new(vec![path.clone()], MAX_BYTES).read_once() {
            Err(FilesError::NotFound { .. } | FilesError::NoYaml { .. }) => {}
            read => files.extend(read?.files),
        }
    }
    Ok(files)
}

fn report_errors(old: &Compilation, new: &Compilation, base: CommitId) -> io::Result<()> {
    if old.table.is_none() {
        for diagnostic in &old.diagnostics {
            writeln!(stderr(), "{}:{diagnostic}", base.short())?;
        }
    }
    if new.table.is_none() {
        table::report(&new.diagnostics)?;
    }
    Ok(())
}
