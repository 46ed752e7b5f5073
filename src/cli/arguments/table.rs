//! The arguments by which commands find their table.

use std::io::{Read as _, Write as _, stderr, stdin};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::git::{LocalRepository, RepositoryError};
use crate::mapping::{
    Compilation, Diagnostic, Place, Position, SourceFile, compile, is_table_name,
};
use crate::source::{FileSource, FilesError};

/// The path that means standard input.
pub(crate) const STDIN: &str = "-";

/// The name of standard input in diagnostics.
pub(crate) const STDIN_NAME: &str = "<stdin>";

/// The default size limit of a table's text.
pub(crate) const DEFAULT_MAX_TABLE_BYTES: &str = "256MiB";

/// The same in bytes.
pub(crate) const MAX_BYTES: u64 = 256 << 20;

/// The table that a command works on.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct TableArgs {
    /// The table: a file or a directory; may be repeated
    #[arg(
        id = "table",
        long = "table",
        value_name = "PATH",
        env = "WAYPOST_TABLE",
        default_value = "mapping.yaml"
    )]
    pub(crate) paths: Vec<PathBuf>,
}

/// Reads the files at these paths, `-` among them, and compiles them as one table.
pub(crate) fn compile_paths(paths: &[PathBuf]) -> anyhow::Result<Compilation> {
    Ok(compile(&read(paths, MAX_BYTES)?))
}

/// Reads the files at these paths, `-` among them, with at most `max_bytes` of text each way.
pub(crate) fn read(paths: &[PathBuf], max_bytes: u64) -> anyhow::Result<Vec<SourceFile>> {
    let (stdin, paths): (Vec<_>, Vec<_>) =
        paths.iter().partition(|path| **path == Path::new(STDIN));
    let mut files = Vec::new();
    if !paths.is_empty() {
        let source = FileSource::new(paths.into_iter().cloned().collect(), max_bytes);
        files = source.read_once()?.files;
    }
    if !stdin.is_empty() {
        files.push(read_stdin(max_bytes)?);
    }
    Ok(files)
}

/// Adds the name of the flag that limits a table's size to an error about a table that is too
/// large.
pub(crate) fn name_limit(error: anyhow::Error) -> anyhow::Error {
    let source = error.downcast_ref::<FilesError>();
    let committed = error.downcast_ref::<RepositoryError>();
    let is_too_large = source.is_some_and(|it| matches!(it, FilesError::TooLarge { .. }))
        || committed.is_some_and(RepositoryError::is_too_large);
    match is_too_large {
        true => error.context("the table does not fit into --max-table-bytes"),
        false => error,
    }
}

/// Writes every problem of a table to standard error.
pub(crate) fn report(diagnostics: &[Diagnostic]) -> anyhow::Result<()> {
    for diagnostic in diagnostics {
        writeln!(stderr(), "{diagnostic}")?;
    }
    Ok(())
}

/// Returns an error for each symbolic link of a work tree that a table at some paths would follow.
///
/// A proposed change may link to anything that the machine can read, and Git's history contains
/// only the link.
pub(crate) fn refuse_links(
    repository: &LocalRepository,
    paths: &[PathBuf],
) -> Result<Vec<Diagnostic>, RepositoryError> {
    let mut refused = Vec::new();
    for path in paths {
        let reported = repository
            .links(path, is_table_name)?
            .into_iter()
            .map(|(file, link)| {
                let place = Place {
                    file: file.to_string_lossy().into(),
                    position: Position::START,
                };
                let message =
                    format!("{link:?} is a symbolic link, which is not followed in the repository");
                Diagnostic::error(place, message).with_hint("commit the file itself")
            });
        refused.extend(reported);
    }
    Ok(refused)
}

fn read_stdin(max_bytes: u64) -> anyhow::Result<SourceFile> {
    let mut bytes = Vec::new();
    let read = stdin().take(max_bytes + 1).read_to_end(&mut bytes);
    read.context("cannot read standard input")?;
    anyhow::ensure!(
        bytes.len() as u64 <= max_bytes,
        "standard input is larger than {max_bytes} bytes"
    );
    Ok(SourceFile {
        path: STDIN_NAME.into(),
        bytes,
    })
}
