//! `waypost fmt`: converts the documents of a table to canonical form.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write, stderr, stdout};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::builder::BoolishValueParser;

use super::arguments::table;
use super::terminal::{Error, progress};
use crate::edit::{self, FormattedPieces, ListPieces};
use crate::mapping::{Diagnostic, TableFile, scheme_of};
use crate::source::{self, FilesError, Threads};

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
    let files = compiled(&args.paths)?;
    let reads: Vec<_> = files.iter().map(reading).collect();
    let formatted = progress::during("formatting", || format_all(&files, &reads))?;
    let formatted = match formatted {
        Ok(formatted) => formatted,
        Err(problems) => {
            table::report(&problems)?;
            return Err(Error::Reported);
        }
    };
    let mut is_formatted = true;
    for (file, formatted) in files.iter().zip(&formatted) {
        let changes = formatted.is_changed(file);
        is_formatted &= !changes;
        if args.check {
            if changes {
                writeln!(stdout(), "{}", file.path)?;
            }
        } else if *file.path == *table::STDIN_NAME {
            formatted.write(&mut stdout().lock())?;
        } else if changes {
            let path = Path::new(&*file.path);
            source::replace_with(path, |to| formatted.write(to).and_then(|()| as_read(file)))
                .with_context(|| format!("cannot write {}", file.path))?;
            writeln!(stderr(), "formatted {}", file.path)?;
        }
    }
    match is_formatted || !args.check {
        true => Ok(()),
        false => Err(Error::Reported),
    }
}

/// Reads and compiles the table, and returns its files, without their text where that is not needed.
fn compiled(paths: &[PathBuf]) -> Result<Vec<TableFile>, Error> {
    let (compilation, files) = match table::compile_read_once(paths, table::MAX_BYTES)? {
        Some(compiled) => compiled,
        None => {
            let files = table::read(paths, table::MAX_BYTES)?;
            let compilation = table::compile_files(&files);
            (
                compilation,
                files.into_iter().map(TableFile::whole).collect(),
            )
        }
    };
    if compilation.table.is_none() {
        table::report(&compilation.diagnostics)?;
        return Err(Error::Reported);
    }
    Ok(files)
}

/// Fails if a file no longer has the size that it was read with: text that was added to it would be
/// lost.
fn as_read(file: &TableFile) -> io::Result<()> {
    let size = fs::metadata(Path::new(&*file.path))?.len();
    match size == file.cut.size() {
        true => Ok(()),
        false => Err(io::Error::other(
            "it has changed since it was read: format it again",
        )),
    }
}

/// Returns some bytes of a file as text, if they are there and UTF-8.
type Read<'f> = Box<dyn Fn(Range<usize>) -> Option<String> + Sync + 'f>;

/// Returns what reads a file, which is opened each time: a table may have more files than can be open.
fn reading(file: &TableFile) -> Read<'_> {
    match file.as_whole() {
        Some(whole) => Box::new(|range| String::from_utf8(whole.bytes.get(range)?.to_vec()).ok()),
        None => Box::new(|range| {
            let mut bytes = vec![0; range.len()];
            let file = File::open(Path::new(&*file.path)).ok()?;
            file.read_exact_at(&mut bytes, range.start as u64).ok()?;
            String::from_utf8(bytes).ok()
        }),
    }
}

/// A file in canonical form.
enum Formatted<'f> {
    Pieces(FormattedPieces<'f>),
    Whole(String),
}

impl Formatted<'_> {
    fn is_changed(&self, file: &TableFile) -> bool {
        match self {
            Self::Pieces(pieces) => pieces.is_changed(),
            Self::Whole(text) => file.as_whole().is_none_or(|it| it.bytes != text.as_bytes()),
        }
    }

    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Whole(text) => to.write_all(text.as_bytes()),
            Self::Pieces(pieces) => {
                let mut to = BufWriter::new(to);
                match pieces.write(|part| to.write_all(part.as_bytes()))? {
                    true => to.flush(),
                    false => Err(io::Error::other("the file was changed at the same time")),
                }
            }
        }
    }
}

/// Formats all documents, or returns all problems of those that cannot be formatted.
fn format_all<'f>(
    files: &'f [TableFile],
    reads: &'f [Read<'f>],
) -> Result<Result<Vec<Formatted<'f>>, Vec<Diagnostic>>, FilesError> {
    let (mut formatted, mut problems) = (Vec::new(), Vec::new());
    for (file, read) in files.iter().zip(reads) {
        if let Some(pieces) = format_in_pieces(file, read) {
            formatted.push(Formatted::Pieces(pieces));
            continue;
        }
        // The text of any other file was needed to compile it.
        let changed = || FilesError::StillBeingWritten {
            path: PathBuf::from(&*file.path),
        };
        match edit::format(file.as_whole().ok_or_else(changed)?) {
            Ok(text) => formatted.push(Formatted::Whole(text)),
            Err(more) => problems.extend(more),
        }
    }
    Ok(match problems.is_empty() {
        true => Ok(formatted),
        false => Err(problems),
    })
}

/// Formats a document whose list is in block form; `None` if that is not so, or its text has changed since
/// it was compiled.
fn format_in_pieces<'f>(file: &'f TableFile, read: &'f Read<'f>) -> Option<FormattedPieces<'f>> {
    let list = ListPieces {
        cut: &file.cut,
        scheme: scheme_of(&file.path, &file.cut)?,
        read,
    };
    FormattedPieces::of(list, &Threads::for_file(file.cut.size()))
}
