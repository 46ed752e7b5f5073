//! Reading a table from a commit.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::Arc;

use git2::{Commit, Oid, Repository};

use crate::git::{FoundFile, TreeError, each_file};
use crate::mapping::{Cut, Cutter, FirstReading, KnownFiles, SourceFile, TableFile, is_table_name};
use crate::source::files::{Earlier, SMALL, STEP, Threads, kept};

/// The files of a table in a commit.
pub(super) struct CommitFiles {
    pub(super) files: Vec<TableFile>,
    /// Where the files were cut, by their content.
    pub(super) cuts: HashMap<Oid, Arc<Cut>>,
}

/// Reads the table at `path`, a file or a directory of files, of at most `max` bytes together, except
/// for parts that are already known.
///
/// Each file is named by its path in the repository.
///
/// # Errors
///
/// If the commit has no readable table there.
pub(super) fn read_changes(
    repository: &Repository,
    commit: &Commit<'_>,
    path: &str,
    max: u64,
    earlier: Earlier<'_>,
) -> Result<CommitFiles, TreeError> {
    let known = earlier.table.map(KnownFiles::of);
    let mut cuts = HashMap::new();
    if let Some(first) = earlier.first {
        first.begin();
    }
    let files = each_file(repository, commit, path, max, is_table_name, |found| {
        let file = read_file(&found, known.as_ref(), earlier)?;
        cuts.extend(kept(&file.cut).map(|cut| (found.id, cut)));
        Ok(file)
    })?;
    Ok(CommitFiles { files, cuts })
}

fn read_file(
    found: &FoundFile<'_>,
    known: Option<&KnownFiles<'_>>,
    earlier: Earlier<'_>,
) -> Result<TableFile, TreeError> {
    let path: Arc<str> = found.path.into();
    let pieces = known.map(|known| known.pieces(&path)).unwrap_or_default();
    let keeps_text = found.is_only && found.size <= SMALL;
    if pieces.is_empty() || keeps_text {
        if let Some(first) = earlier.first {
            match keeps_text {
                true => first.give_up(),
                false => {
                    let cut = found.stream(|content| compile(&path, found.size, content, first));
                    if let Some(cut) = cut? {
                        return Ok(TableFile::known(path, Arc::new(cut)));
                    }
                }
            }
        }
        let bytes = found.read(<[u8]>::to_vec)?;
        return Ok(TableFile::whole(SourceFile::new(path, bytes)));
    }
    let cut = earlier.reading.and_then(|reading| reading.cut(found.id));
    if let Some(cut) = cut.filter(|cut| cut.is_known(&pieces)) {
        return Ok(TableFile::known(path, Arc::clone(cut)));
    }
    found.stream(|content| {
        let mut cutter = Cutter::new(found.size, &pieces);
        let mut buffer = Vec::with_capacity(STEP);
        while step(content, &mut buffer)? > 0 {
            cutter.push(&buffer);
            buffer.clear();
        }
        Ok(cutter.finish(path))
    })
}

/// Compiles a file in its turn; `None` if its text is needed.
fn compile(
    path: &Arc<str>,
    size: u64,
    content: &mut (dyn Read + Send),
    first: &FirstReading,
) -> io::Result<Option<Cut>> {
    let read = |buffer: &mut Vec<u8>| step(content, buffer);
    first.read(path, size, read, &Threads::for_file(size))
}

/// Appends the next bytes of a file, and returns how many, or 0 at its end.
fn step(content: &mut (dyn Read + Send), buffer: &mut Vec<u8>) -> io::Result<usize> {
    content.take(STEP as u64).read_to_end(buffer)
}
