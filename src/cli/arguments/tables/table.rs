//! The arguments by which commands find their table.

use std::io::{self, Read as _, Write as _, stderr, stdin};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indicatif::HumanBytes;

use crate::cli::arguments::values::quantity;
use crate::cli::terminal::{Error, counted, progress};
use crate::git::{LocalRepository, RepositoryError};
use crate::mapping::{
    self, Compilation, Diagnostic, FirstReading, MAX_TABLE_TEXT, Place, Position, Rule, SourceFile,
    Table, TableFile, compile, compile_after, is_table_name,
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

/// Parses the size limit of a table's text, which is at most what a table can have.
pub(crate) fn max_bytes(text: &str) -> Result<u64, String> {
    let bytes = quantity::bytes(text)?;
    if bytes > MAX_TABLE_TEXT {
        return Err(format!(
            "a table can have at most {MAX_TABLE_TEXT} bytes, because it addresses its text with 32 \
             bits: split a larger one into several tables, each with its own server"
        ));
    }
    Ok(bytes)
}

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

/// The table of a command, as its arguments.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct PathArgs {
    /// Files and directories that form one table; `-` is standard input
    #[arg(
        value_name = "PATH",
        env = "WAYPOST_TABLE",
        default_value = "mapping.yaml"
    )]
    pub(crate) paths: Vec<PathBuf>,
}

/// Reads the files at these paths, `-` among them, and compiles them as one table.
pub(crate) fn compile_paths(paths: &[PathBuf]) -> Result<Compilation, FilesError> {
    Ok(compile_once(paths, MAX_BYTES)?.compilation)
}

/// A table that was compiled alone, and its files.
pub(crate) struct CompiledOnce {
    pub(crate) compilation: Compilation,
    /// The files, without their text if it was not needed.
    pub(crate) files: Vec<SourceFile>,
    pub(crate) lacks_text: bool,
}

/// Reads the files at these paths, `-` among them, and compiles them as one table, if possible while they
/// are read.
pub(crate) fn compile_once(paths: &[PathBuf], max_bytes: u64) -> Result<CompiledOnce, FilesError> {
    if let Some((compilation, files)) = compile_read_once(paths, max_bytes)? {
        return Ok(CompiledOnce {
            compilation,
            lacks_text: files.iter().any(|file| file.as_whole().is_none()),
            files: files.into_iter().map(with_known_text).collect(),
        });
    }
    let files = read(paths, max_bytes)?;
    Ok(CompiledOnce {
        compilation: compile_files(&files),
        files,
        lacks_text: false,
    })
}

/// Reads the files at these paths, and compiles them meanwhile as one table; returns as much of their text
/// as was needed, or nothing if all of it is needed, or standard input is among them.
pub(crate) fn compile_read_once(
    paths: &[PathBuf],
    max_bytes: u64,
) -> Result<Option<(Compilation, Vec<TableFile>)>, FilesError> {
    if paths.iter().any(|path| path == Path::new(STDIN)) {
        return Ok(None);
    }
    let first = FirstReading::default();
    let source = FileSource::new(paths.to_owned(), max_bytes);
    progress::during(format!("compiling {}", named(paths)), || {
        let files = source.compile_once(&first)?;
        let compilation = first.compile(&files).ok();
        Ok(compilation.map(|compilation| (compilation, files)))
    })
}

fn with_known_text(file: TableFile) -> SourceFile {
    let path = Arc::clone(&file.path);
    let whole = file.into_whole();
    whole.unwrap_or_else(|| SourceFile::new(path, Vec::new()))
}

/// Compiles files as one table, which is shown as progress.
pub(crate) fn compile_files(files: &[SourceFile]) -> Compilation {
    show_compiling(files, || compile(files))
}

/// Compiles files as one table, which is shown as progress, and lists as many problems of each file and
/// rule.
pub(crate) fn compile_listing(files: &[SourceFile], most_problems: usize) -> Compilation {
    show_compiling(files, || mapping::compile_listing(files, most_problems))
}

/// Compiles files as one of several versions of a table, which is shown as progress.
pub(crate) fn compile_version(files: &[SourceFile], before: Option<&Table>) -> Compilation {
    show_compiling(files, || compile_after(files, before))
}

fn show_compiling(files: &[SourceFile], compile: impl FnOnce() -> Compilation) -> Compilation {
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let what = match files {
        [only] => only.path.to_string(),
        _ => counted(files.len(), "file", "files"),
    };
    let size = HumanBytes(bytes as u64);
    progress::during(format!("compiling {what} ({size})"), compile)
}

/// Returns how the paths of a table are named in a message.
pub(crate) fn named(paths: &[PathBuf]) -> String {
    let named = paths.iter().map(|path| path.display().to_string());
    named.collect::<Vec<_>>().join(", ")
}

/// Reads the files at these paths, `-` among them, with at most `max_bytes` of text each way.
pub(crate) fn read(paths: &[PathBuf], max_bytes: u64) -> Result<Vec<SourceFile>, FilesError> {
    let (stdin, paths): (Vec<_>, Vec<_>) =
        paths.iter().partition(|path| **path == Path::new(STDIN));
    let mut files = Vec::new();
    if !paths.is_empty() {
        let paths: Vec<_> = paths.into_iter().cloned().collect();
        let what = format!("reading {}", named(&paths));
        let source = FileSource::new(paths, max_bytes);
        files = progress::during(what, || source.read_once())?.files;
    }
    if !stdin.is_empty() {
        files.push(read_stdin(max_bytes)?);
    }
    Ok(files)
}

/// Returns a conversion of errors that adds the name of the flag that limits a table's size to those
/// about a table that is too large.
pub(crate) fn name_limit<E>(is_too_large: fn(&E) -> bool) -> impl Fn(E) -> Error
where
    anyhow::Error: From<E>,
    Error: From<E>,
{
    move |error| match is_too_large(&error) {
        true => {
            let error = anyhow::Error::from(error);
            Error::Failed(error.context("the table does not fit into --max-table-bytes"))
        }
        false => error.into(),
    }
}

/// Refuses standard input among the paths of a table if its history is needed.
pub(crate) fn require_history(paths: &[PathBuf]) -> Result<(), Error> {
    match paths.iter().any(|path| path == Path::new(STDIN)) {
        true => Err(Error::usage(
            "standard input has no history: name the file instead",
        )),
        false => Ok(()),
    }
}

/// Refuses standard input among the paths of a table that is to be changed.
pub(crate) fn require_files(paths: &[PathBuf]) -> Result<(), Error> {
    match paths.iter().any(|path| path == Path::new(STDIN)) {
        true => Err(Error::usage(
            "a table on standard input cannot be written to: name a file",
        )),
        false => Ok(()),
    }
}

/// Writes every problem of a table to standard error.
pub(crate) fn report(diagnostics: &[Diagnostic]) -> io::Result<()> {
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
                Diagnostic::new(Rule::FileSymlink, place, message)
                    .with_hint("commit the file itself")
            });
        refused.extend(reported);
    }
    Ok(refused)
}

fn read_stdin(max: u64) -> Result<SourceFile, FilesError> {
    let path = || PathBuf::from(STDIN_NAME);
    let mut bytes = Vec::new();
    let read = stdin().take(max + 1).read_to_end(&mut bytes);
    let size = read.map_err(|source| FilesError::Io {
        path: path(),
        source,
    })? as u64;
    if size > max {
        return Err(FilesError::TooLarge {
            path: path(),
            size,
            max,
        });
    }
    Ok(SourceFile {
        path: STDIN_NAME.into(),
        bytes,
    })
}
