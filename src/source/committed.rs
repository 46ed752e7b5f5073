//! Tables as a commit of a local repository holds them, without touching the work tree.
//!
//! For commands that compare what is, what was and what is proposed. Paths are those of the work
//! tree, as a person gives them; in a bare repository they are the repository's own.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use git2::{Commit, ErrorCode, Oid, Repository};

use super::TreeError;
use super::tree::read_table;
use crate::mapping::SourceFile;

/// Hexadecimal digits of a commit's id that are enough for people and for Git.
const SHORT: usize = 12;

/// A local repository, as the place where tables were committed.
pub struct Committed {
    repository: Repository,
    /// The checkout's top directory, without links; a bare repository has none.
    work_dir: Option<PathBuf>,
}

/// The id of a commit that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitId(Oid);

impl CommitId {
    /// Returns as much of it as people need.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(SHORT);
        text
    }
}

/// Writes all of it, in hexadecimal.
impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a table cannot be read from a commit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommittedError {
    /// There is no repository around a path.
    #[error("{} lies in no Git repository", path.display())]
    NoRepository {
        /// The path as it was given.
        path: PathBuf,
    },
    /// Git does not trust it.
    #[error(
        "the Git repository around {0} belongs to another user: \
         git config --global --add safe.directory {0}",
        path.display()
    )]
    NotOurs {
        /// A directory in it.
        path: PathBuf,
    },
    /// Git cannot use it.
    #[error("cannot use the Git repository around {}", path.display())]
    Unusable {
        /// The path as it was given.
        path: PathBuf,
        /// What Git said.
        #[source]
        source: git2::Error,
    },
    /// A path leads out of the repository.
    #[error("{} does not lie in the repository at {}", path.display(), work_dir.display())]
    Outside {
        /// The path as it was given.
        path: PathBuf,
        /// The top directory of the checkout.
        work_dir: PathBuf,
    },
    /// A revision names no commit.
    #[error("{revision:?} names no commit: give a branch, a tag or a commit's id")]
    UnknownRevision {
        /// The revision as it was given.
        revision: String,
        /// What Git said.
        #[source]
        source: git2::Error,
    },
    /// Two commits come from nowhere common.
    #[error("{one} and {other} have no commit in common")]
    Unrelated {
        /// The one.
        one: CommitId,
        /// The other.
        other: CommitId,
    },
    /// The same, as far as anybody can tell in a shallow clone.
    #[error(
        "{one} and {other} have no commit in common in this shallow clone: git fetch --unshallow"
    )]
    Shallow {
        /// The one.
        one: CommitId,
        /// The other.
        other: CommitId,
    },
    /// The commit holds no table there.
    #[error(transparent)]
    Table(#[from] TreeError),
    /// The system could not say where a path leads.
    #[error("cannot find {}", path.display())]
    Io {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl CommittedError {
    /// Tells whether there is just nothing at that path in the commit.
    pub fn is_absence(&self) -> bool {
        matches!(
            self,
            Self::Table(TreeError::NotFound { .. } | TreeError::NoYaml { .. })
        )
    }
}

impl Committed {
    /// Opens the repository around a path, which itself need not exist.
    ///
    /// # Errors
    ///
    /// If there is none, or Git cannot or will not use it.
    pub fn around(path: &Path) -> Result<Self, CommittedError> {
        let given = || path.to_owned();
        let real = real(path)?;
        let directory = (real.ancestors())
            .find(|ancestor| ancestor.is_dir())
            .unwrap_or(Path::new("/"));
        let git_dir = Repository::discover_path(directory, &[] as &[&OsStr])
            .map_err(|_| CommittedError::NoRepository { path: given() })?;
        let repository = Repository::open(git_dir).map_err(|source| match source.code() {
            ErrorCode::Owner => CommittedError::NotOurs {
                path: directory.to_owned(),
            },
            _ => CommittedError::Unusable {
                path: given(),
                source,
            },
        })?;
        let work_dir = match repository.workdir() {
            Some(work_dir) => Some(real_dir(work_dir)?),
            None => None,
        };
        Ok(Self {
            repository,
            work_dir,
        })
    }

    /// Tells whether there is no work tree.
    pub fn is_bare(&self) -> bool {
        self.work_dir.is_none()
    }

    /// Finds the commit that a revision names, in any of Git's ways (gitrevisions(7)).
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn commit(&self, revision: &str) -> Result<CommitId, CommittedError> {
        let object = self.repository.revparse_single(revision);
        match object.and_then(|object| object.peel_to_commit()) {
            Ok(commit) => Ok(CommitId(commit.id())),
            Err(source) => Err(CommittedError::UnknownRevision {
                revision: revision.to_owned(),
                source,
            }),
        }
    }

    /// Finds the commit at which two lines of work parted.
    ///
    /// # Errors
    ///
    /// If there is none, or a shallow clone does not reach that far.
    pub fn merge_base(&self, one: CommitId, other: CommitId) -> Result<CommitId, CommittedError> {
        match self.repository.merge_base(one.0, other.0) {
            Ok(id) => Ok(CommitId(id)),
            Err(_) if self.repository.is_shallow() => Err(CommittedError::Shallow { one, other }),
            Err(_) => Err(CommittedError::Unrelated { one, other }),
        }
    }

    /// Reads the table at a path, a file or a directory of files, of at most `max` bytes.
    ///
    /// Its files are named as they would be in the work tree.
    ///
    /// # Errors
    ///
    /// If the path lies outside the repository, or the commit holds no table there.
    pub fn read(
        &self,
        commit: CommitId,
        path: &Path,
        max: u64,
    ) -> Result<Vec<SourceFile>, CommittedError> {
        let inside = self.inside(path)?;
        let commit = self.find(commit, path)?;
        let mut files = read_table(&self.repository, &commit, &inside, max)?;
        for file in &mut files {
            let below = Path::new(&*file.path).strip_prefix(&inside);
            let named = match below {
                Ok(below) if !below.as_os_str().is_empty() => path.join(below),
                _ => path.to_owned(),
            };
            file.path = named.to_string_lossy().into();
        }
        Ok(files)
    }

    fn find(&self, commit: CommitId, path: &Path) -> Result<Commit<'_>, CommittedError> {
        let commit = self.repository.find_commit(commit.0);
        commit.map_err(|source| CommittedError::Unusable {
            path: path.to_owned(),
            source,
        })
    }

    /// Returns a path from the repository's top.
    fn inside(&self, path: &Path) -> Result<String, CommittedError> {
        let Some(work_dir) = &self.work_dir else {
            return Ok(path.to_string_lossy().into_owned());
        };
        match real(path)?.strip_prefix(work_dir) {
            Ok(inside) => Ok(inside.to_string_lossy().into_owned()),
            Err(_) => Err(CommittedError::Outside {
                path: path.to_owned(),
                work_dir: work_dir.clone(),
            }),
        }
    }
}

/// Returns a path without links, as far as it exists.
fn real(path: &Path) -> Result<PathBuf, CommittedError> {
    let absolute = std::path::absolute(path).map_err(|source| CommittedError::Io {
        path: path.to_owned(),
        source,
    })?;
    for ancestor in absolute.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), absolute.strip_prefix(ancestor)) {
            // What is joined to nothing ends in a slash.
            return Ok(match rest.as_os_str().is_empty() {
                true => real,
                false => real.join(rest),
            });
        }
    }
    Ok(absolute)
}

fn real_dir(path: &Path) -> Result<PathBuf, CommittedError> {
    path.canonicalize().map_err(|source| CommittedError::Io {
        path: path.to_owned(),
        source,
    })
}
