//! How every command finds its table.

use std::io::{Read as _, Write as _, stderr, stdin};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::mapping::{Compilation, Diagnostic, SourceFile, compile};
use crate::source::FileSource;

/// The path that means standard input.
pub(super) const STDIN: &str = "-";

/// What problems call standard input.
pub(super) const STDIN_NAME: &str = "<stdin>";

/// How much text a table may have unless `serve` is told otherwise.
pub(super) const DEFAULT_MAX_TABLE_BYTES: &str = "256MiB";

/// The same in bytes.
pub(super) const MAX_BYTES: u64 = 256 << 20;

/// Reads the files that paths name, `-` among them, and compiles them as one table.
pub(super) fn compile_paths(paths: &[PathBuf]) -> anyhow::Result<Compilation> {
    Ok(compile(&read(paths, MAX_BYTES)?))
}

/// Reads the files that paths name, `-` among them, with at most `max_bytes` of text each way.
pub(super) fn read(paths: &[PathBuf], max_bytes: u64) -> anyhow::Result<Vec<SourceFile>> {
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

/// Tells standard error about every problem of a table.
pub(super) fn tell(diagnostics: &[Diagnostic]) -> anyhow::Result<()> {
    for diagnostic in diagnostics {
        writeln!(stderr(), "{diagnostic}")?;
    }
    Ok(())
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
