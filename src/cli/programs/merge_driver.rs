//! `waypost merge-driver`: merges two versions of a document for Git, by their meaning.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{Write as _, stderr, stdout};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::builder::BoolishValueParser;

use crate::cli::arguments::TableArgs;
use crate::cli::terminal::{Error, legible, progress, shell_word};
use crate::edit::{Merged, merge};
use crate::mapping::SourceFile;
use crate::source::{FilesError, MergeSetup, replace};

/// Merge two versions of a table for Git by their codes and keys, not by their lines
///
/// Entries are matched by their codes and merged key by key. A conflict (one code with two targets,
/// or an entry that one side changed and the other removed) is marked around that entry alone, and
/// reported on standard error. Text that cannot be split into entries is merged line by line, as
/// Git does.
///
/// After --install has configured it for the tables of --table, Git calls this command with four
/// paths. Configuration is not cloned, so each clone needs its own --install. Forges do not run
/// merge drivers when they merge on their servers.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "waypost merge-driver BASE OURS THEIRS PATH\n       \
                      waypost merge-driver --install [--table PATH]...",
    after_help = "\
Examples:
  waypost merge-driver --install       merge mapping.yaml by meaning in this clone
  waypost merge-driver --install --table links/
  git config merge.waypost.driver      show what Git will run

Exit status: 0 merged; 1 a conflict is left in OURS; 2 wrong usage; 3 --install failed;
129 nothing was merged, and OURS is unchanged: Git 2.42 or newer then aborts the whole merge."
)]
pub(in crate::cli) struct Args {
    /// The common ancestor of both versions (%O)
    #[arg(value_name = "BASE", required_unless_present = "install")]
    base: Option<PathBuf>,

    /// Our version, which the result replaces (%A)
    #[arg(value_name = "OURS", required_unless_present = "install")]
    ours: Option<PathBuf>,

    /// Their version (%B)
    #[arg(value_name = "THEIRS", required_unless_present = "install")]
    theirs: Option<PathBuf>,

    /// The name of the file in messages (%P)
    #[arg(value_name = "PATH", required_unless_present = "install")]
    path: Option<String>,

    /// Configure Git to call this command, in the repository that contains the current directory
    #[arg(long, env = "WAYPOST_MERGE_DRIVER_INSTALL", value_parser = BoolishValueParser::new(), conflicts_with = "base")]
    install: bool,

    // Only --install needs it.
    #[command(flatten)]
    table: TableArgs,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Error> {
    let (Some(base), Some(ours), Some(theirs), Some(path)) =
        (&args.base, &args.ours, &args.theirs, &args.path)
    else {
        return install(&args.table.paths);
    };
    let path = &*legible(path);
    // A status up to 128 would mean to Git that OURS contains a result.
    let merged = drive(base, ours, theirs, path)
        .map_err(|error| Error::NotMerged(error.context(format!("{path}: not merged"))))?;
    match merged.conflicts.is_empty() {
        true => Ok(()),
        false => Err(Error::Reported),
    }
}

fn drive(base: &Path, ours: &Path, theirs: &Path, path: &str) -> anyhow::Result<Merged> {
    let read = |file: &Path| {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let path = path.into();
        anyhow::Ok(SourceFile { path, bytes })
    };
    let (base, our, their) = (read(base)?, read(ours)?, read(theirs)?);
    let merged = progress::during(format!("merging {path}"), || merge(&base, &our, &their))?;
    replace(ours, &merged.text).with_context(|| format!("cannot write {}", ours.display()))?;
    // The result is valid even if this cannot be reported.
    if let Some(reason) = &merged.by_lines {
        let _ = writeln!(stderr(), "{path}: merged line by line: {reason}");
    }
    for conflict in &merged.conflicts {
        let _ = writeln!(stderr(), "{path}:{}: {}", conflict.line, conflict.message);
    }
    Ok(merged)
}

fn install(tables: &[PathBuf]) -> Result<(), Error> {
    if let Some(path) = tables.iter().find(|path| !path.exists()) {
        return Err(FilesError::NotFound { path: path.clone() }.into());
    }
    let setup = MergeSetup::around(Path::new("."))?;
    let added = setup.assign(tables)?;
    let command = driver()?;
    let mut out = stdout();
    if setup.set_driver(&command)? {
        writeln!(
            out,
            "configured this clone: merge.waypost.driver = {command}"
        )?;
    }
    for line in &added {
        writeln!(out, "added to .gitattributes: {line}")?;
    }
    if !added.is_empty() {
        writeln!(
            out,
            "commit .gitattributes; every other clone runs this once, too"
        )?;
    }
    writeln!(
        out,
        "merges, rebases and cherry-picks in this clone merge tables by meaning"
    )?;
    writeln!(out, "a forge that merges on its server does not run this")?;
    Ok(())
}

/// Returns the command for Git to run.
fn driver() -> anyhow::Result<String> {
    let this = env::current_exe().context("cannot find the path of this program")?;
    let path = env::var_os("PATH").unwrap_or_default();
    let program = if is_found(&this, &path) {
        "waypost".to_owned()
    } else {
        let this = this.to_str().context("this program's path is not UTF-8")?;
        // Escaped, so that Git expands nothing in it.
        shell_word(&this.replace('%', "%%")).into_owned()
    };
    // If the program is missing or crashes, Git must not use our version as the result.
    Ok(format!(
        "{program} merge-driver -- %O %A %B %P || exit $(($? == 1 ? 1 : 129))"
    ))
}

/// Returns whether a shell finds this program under the name `waypost`.
fn is_found(this: &Path, path: &OsStr) -> bool {
    let is_program = |path: &PathBuf| {
        let metadata = fs::metadata(path);
        metadata.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    let mut candidates = env::split_paths(path).map(|directory| directory.join("waypost"));
    let found = candidates.find(is_program);
    found.is_some_and(|found| match (found.canonicalize(), this.canonicalize()) {
        (Ok(found), Ok(this)) => found == this,
        _ => false,
    })
}
