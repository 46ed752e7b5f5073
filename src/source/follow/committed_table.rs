//! A table as a commit holds it.

use git2::{Commit, Repository};

use crate::git::{TreeError, read_files};
use crate::mapping::{SourceFile, is_table_name};

/// Reads the table at `path`, a file or a directory of files, of at most `max` bytes together.
///
/// Each file is named by its path in the repository.
///
/// # Errors
///
/// If the commit holds no table there that can be read.
pub fn read_table(
    repository: &Repository,
    commit: &Commit<'_>,
    path: &str,
    max: u64,
) -> Result<Vec<SourceFile>, TreeError> {
    let files = read_files(repository, commit, path, max, is_table_name)?;
    let files = files
        .into_iter()
        .map(|it| SourceFile::new(it.path, it.bytes));
    Ok(files.collect())
}
