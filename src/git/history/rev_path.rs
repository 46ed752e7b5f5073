//! Files named as in `main:mapping.yaml`: a revision as Git writes it (gitrevisions(7)), and the path
//! of a file or directory in that commit.

use super::repository::LocalRepository;
use super::repository_error::RepositoryError;
use super::tree::{NameFilter, TreeError, TreeFile};
use super::tree_path::TreePath;
use crate::git::commit_id::CommitId;

/// Files in a commit of the repository of the current directory.
pub struct RevPath {
    /// The repository.
    pub repository: LocalRepository,
    /// The commit.
    pub commit: CommitId,
    /// The path of the file or directory in the commit.
    pub path: TreePath,
    revision: String,
}

impl RevPath {
    /// Finds the commit; whether it has that path is not checked yet.
    ///
    /// # Errors
    ///
    /// If the name does not give both, or there is no such repository, commit or path.
    pub fn find(name: &str) -> Result<Self, RepositoryError> {
        let (revision, path) = split(name).ok_or_else(|| RepositoryError::Form(name.to_owned()))?;
        let repository = LocalRepository::here()?;
        Ok(Self {
            commit: repository.commit(revision)?,
            path: repository.path_in_commit(path)?,
            revision: revision.to_owned(),
            repository,
        })
    }

    /// Reads the wanted files, of at most `max` bytes. They are named by their paths from the top.
    ///
    /// # Errors
    ///
    /// If there is none, or it is too large.
    pub fn read(&self, max: u64, is_wanted: NameFilter) -> Result<Vec<TreeFile>, RepositoryError> {
        let read = self
            .repository
            .read(self.commit, &self.path, max, is_wanted);
        read.map_err(|error| match error {
            RepositoryError::Tree(TreeError::NotFound { path, .. }) => RepositoryError::NotFound {
                revision: self.revision.clone(),
                path,
            },
            error => error,
        })
    }
}

/// Splits at the first colon that is not part of the revision, as one in `HEAD^{/fix: it}` is.
fn split(name: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let colon = name.find(|character| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ':' && depth == 0
    })?;
    let (revision, path) = (&name[..colon], &name[colon + 1..]);
    // `:path` is Git's name for staged content, which is no commit.
    (!revision.is_empty()).then_some((revision, path))
}
