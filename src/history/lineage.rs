//! A table at its paths, in the commits of a repository.

use std::path::{Path, PathBuf};

use crate::git::{
    CommitId, LocalRepository, RepositoryError, RevPath, TreeFile, TreePath, Version,
};
use crate::mapping::{Origin, SourceFile, Table, Timestamp, compile_after, is_table_name};

/// Why the history of a table cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The repository cannot be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A commit that contained a valid table no longer does.
    #[error("the commit {0} contains a different table than before")]
    Changed(CommitId),
}

impl HistoryError {
    /// Returns whether a table is larger than allowed.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::Repository(error) if error.is_too_large())
    }
}

/// A table's position among the commits of a repository.
pub struct Lineage {
    pub(super) repository: LocalRepository,
    /// The commit that contains the table, or that the table is to follow.
    pub(super) tip: CommitId,
    pub(super) paths: Vec<TreePath>,
    pub(super) max_bytes: u64,
}

/// The content at the paths of a table in one commit.
pub(super) enum PublishedTable {
    Nothing,
    /// A table that is not served.
    Unsound,
    Sound(Table),
}

impl Lineage {
    /// Finds the repository around the paths of a table in a work tree; the tip is `revision`.
    ///
    /// # Errors
    ///
    /// If there is no such repository or commit, or a path lies outside.
    pub fn of_work_tree(
        paths: &[PathBuf],
        revision: &str,
        max_bytes: u64,
    ) -> Result<Self, RepositoryError> {
        let first = paths.first().map_or(Path::new("."), PathBuf::as_path);
        let repository = LocalRepository::around(first)?;
        let paths = paths.iter().map(|path| repository.path(path));
        Ok(Self {
            tip: repository.commit(revision)?,
            paths: paths.collect::<Result<_, _>>()?,
            max_bytes,
            repository,
        })
    }

    /// Takes a table from its commit, with its files.
    ///
    /// # Errors
    ///
    /// If the commit has no table there, or it is too large.
    pub fn of_commit(
        table: RevPath,
        max_bytes: u64,
    ) -> Result<(Self, Vec<SourceFile>), RepositoryError> {
        let files = source_files(table.read(max_bytes, is_table_name)?);
        let lineage = Self {
            tip: table.commit,
            paths: vec![table.path],
            max_bytes,
            repository: table.repository,
        };
        Ok((lineage, files))
    }

    /// Returns the repository.
    pub fn repository(&self) -> &LocalRepository {
        &self.repository
    }

    /// Returns the commit that contains the table, or that it is to follow.
    pub fn tip(&self) -> CommitId {
        self.tip
    }

    /// Returns the commit where the line of work that leads to the tip parted from a revision.
    ///
    /// # Errors
    ///
    /// If the revision names no commit, or has none in common with the tip.
    pub fn branch_point(&self, revision: &str) -> Result<CommitId, RepositoryError> {
        let other = self.repository.commit(revision)?;
        self.repository.merge_base(other, self.tip)
    }

    /// Reads the existing files of the table in a commit: none, if it has nothing at its paths.
    ///
    /// # Errors
    ///
    /// If they cannot be read, or are too large.
    pub fn files_at(&self, commit: CommitId) -> Result<Vec<SourceFile>, RepositoryError> {
        let read =
            (self.repository).read_all(commit, &self.paths, self.max_bytes, is_table_name)?;
        Ok(source_files(read))
    }

    pub(super) fn version(&self, commit: CommitId) -> Result<Version, RepositoryError> {
        self.repository.version(commit, &self.paths)
    }

    /// Compiles the table in a commit; the more it has in common with `other`, the less that costs.
    pub(super) fn table_at(
        &self,
        commit: CommitId,
        other: Option<&Table>,
    ) -> Result<PublishedTable, RepositoryError> {
        Ok(match self.table_files_at(commit)? {
            Some(files) if files.is_empty() => PublishedTable::Nothing,
            Some(files) => compile_after(&files, other)
                .table
                .map_or(PublishedTable::Unsound, PublishedTable::Sound),
            None => PublishedTable::Unsound,
        })
    }

    /// Reads the existing files of the table in a commit; `None` if something there is no file.
    pub(super) fn table_files_at(
        &self,
        commit: CommitId,
    ) -> Result<Option<Vec<SourceFile>>, RepositoryError> {
        match self.files_at(commit) {
            Ok(files) => Ok(Some(files)),
            Err(error) if error.is_no_file() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the description of a commit for users.
    pub(super) fn origin(&self, commit: CommitId) -> Result<Origin, RepositoryError> {
        let time = Timestamp::from_unix(self.repository.time(commit)?).to_string();
        Ok(Origin {
            commit: commit.short(),
            day: time.split('T').next().unwrap_or_default().to_owned(),
        })
    }
}

pub(super) fn source_files(files: Vec<TreeFile>) -> Vec<SourceFile> {
    let files = files
        .into_iter()
        .map(|it| SourceFile::new(it.path, it.bytes));
    files.collect()
}
