//! A table as a commit of the repository around us holds it, without touching its checkout.
//!
//! Which repository that is, Git's own variables decide first: so a `pre-receive` hook sees the
//! objects that a push has brought, before they are taken.

use std::env;
use std::path::{Component, PathBuf};

use git2::{Commit, ErrorCode, Repository};

use super::tree::{TreeError, read_table};
use crate::mapping::SourceFile;

/// Why there is no table to be read from a commit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RevPathError {
    /// It does not say both a commit and a path.
    #[error("{0:?} does not name a table in a commit: write it as in HEAD:mapping.yaml")]
    Form(String),
    /// The current directory lies in no Git repository.
    #[error("no Git repository here: go to one")]
    NoRepository,
    /// The repository belongs to another user, whose configuration Git does not trust.
    #[error("the Git repository belongs to another user: see safe.directory in git-config(1)")]
    Foreign,
    /// The repository cannot be opened.
    #[error("cannot use the Git repository")]
    Unusable(#[source] git2::Error),
    /// The repository knows no such commit.
    #[error("{revision:?} is no commit of this repository")]
    NoCommit {
        /// The revision as it was given.
        revision: String,
        /// What Git said.
        #[source]
        source: git2::Error,
    },
    /// The commit holds nothing there.
    #[error("{revision} holds no {path}")]
    NotFound {
        /// The revision as it was given.
        revision: String,
        /// The path in the repository.
        path: String,
    },
    /// The path leaves the repository.
    #[error("{0} is outside the repository")]
    Outside(String),
    /// What the commit holds is no table.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// Reads a table of at most `max_bytes`, named as in `main:mapping.yaml`: a revision as Git writes
/// it (gitrevisions(7)), and a file or directory.
///
/// As in Git, a path is relative to the top of the repository, or if it begins with `./` or `../`
/// to the current directory. Files are named by their paths from the top.
///
/// # Errors
///
/// If there is no such repository, commit or table, or it is too large.
pub fn read_committed(name: &str, max_bytes: u64) -> Result<Vec<SourceFile>, RevPathError> {
    let (revision, path) = split(name).ok_or_else(|| RevPathError::Form(name.to_owned()))?;
    let repository = Repository::open_from_env().map_err(|source| match source.code() {
        ErrorCode::NotFound => RevPathError::NoRepository,
        ErrorCode::Owner => RevPathError::Foreign,
        _ => RevPathError::Unusable(source),
    })?;
    let commit = find_commit(&repository, revision).map_err(|source| {
        let revision = revision.to_owned();
        RevPathError::NoCommit { revision, source }
    })?;
    let path = from_top(&repository, path).ok_or_else(|| RevPathError::Outside(path.to_owned()))?;
    read_table(&repository, &commit, &path, max_bytes).map_err(|error| match error {
        TreeError::NotFound { path, .. } => RevPathError::NotFound {
            revision: revision.to_owned(),
            path,
        },
        error => error.into(),
    })
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
    // `:path` is Git's name for what is staged, which is no commit.
    (!revision.is_empty()).then_some((revision, path))
}

fn find_commit<'r>(repository: &'r Repository, revision: &str) -> Result<Commit<'r>, git2::Error> {
    repository.revparse_single(revision)?.peel_to_commit()
}

/// Returns a path as it is from the top of the repository, if it is in there.
fn from_top(repository: &Repository, path: &str) -> Option<String> {
    if !path.starts_with("./") && !path.starts_with("../") {
        return Some(path.to_owned());
    }
    let top = repository.workdir()?.canonicalize().ok()?;
    let here = env::current_dir().ok()?.canonicalize().ok()?;
    let mut from_top = PathBuf::new();
    for part in here.strip_prefix(top).ok()?.join(path).components() {
        match part {
            Component::ParentDir if !from_top.pop() => return None,
            Component::Normal(name) => from_top.push(name),
            _ => {}
        }
    }
    from_top.to_str().map(str::to_owned)
}
