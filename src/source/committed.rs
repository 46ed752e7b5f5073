//! Tables as a commit of a local repository holds them, without touching the work tree.
//!
//! For commands that compare the current, the previous and the proposed table. `history` covers the
//! relations between commits.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use git2::{Commit, ErrorCode, Oid, Repository};

use super::files::table_names;
use super::tree::{find_id, read_table};
use super::tree_path::{TreePath, from_top};
use super::work_tree::{Spot, git_dir};
use super::{CommittedError, TreeError};
use crate::mapping::SourceFile;

/// The number of hexadecimal digits of a commit id that are enough for people and for Git.
const SHORT: usize = 12;

/// A local repository in which tables were committed.
pub struct Committed {
    pub(super) repository: Repository,
    /// The checkout's top directory, without links; a bare repository has none.
    work_dir: Option<PathBuf>,
}

/// The id of a commit that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CommitId(pub(super) Oid);

impl CommitId {
    /// Returns the abbreviated id for people.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(SHORT);
        text
    }
}

/// Writes the full id, in hexadecimal.
impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The contents of some paths in a commit; equal values mean equal contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(Vec<Option<Oid>>);

impl Committed {
    /// Opens the repository around a path, which itself need not exist.
    ///
    /// # Errors
    ///
    /// If there is none, or Git cannot or will not use it.
    pub fn around(path: &Path) -> Result<Self, CommittedError> {
        let spot = spot(path)?;
        let directory = spot.directory();
        let git_dir = git_dir(directory).map_err(|_| CommittedError::NoRepository {
            path: path.to_owned(),
        })?;
        Self::open(Repository::open(git_dir), path, directory)
    }

    /// Opens the repository of the current directory.
    ///
    /// Git's own variables take precedence: so a `pre-receive` hook sees the objects of a push
    /// before they are accepted.
    ///
    /// # Errors
    ///
    /// If there is none, or Git cannot or will not use it.
    pub fn here() -> Result<Self, CommittedError> {
        let here = env::current_dir().unwrap_or_else(|_| ".".into());
        Self::open(Repository::open_from_env(), &here, &here)
    }

    fn open(
        opened: Result<Repository, git2::Error>,
        path: &Path,
        directory: &Path,
    ) -> Result<Self, CommittedError> {
        let repository = opened.map_err(|source| {
            let path = path.to_owned();
            match source.code() {
                ErrorCode::NotFound => CommittedError::NoRepository { path },
                ErrorCode::Owner => CommittedError::NotOurs {
                    path: directory.to_owned(),
                },
                _ => CommittedError::Unusable { path, source },
            }
        })?;
        let work_dir = repository.workdir().map(|work_dir| {
            let real = work_dir.canonicalize();
            real.map_err(|error| CommittedError::io(work_dir, error))
        });
        let work_dir = work_dir.transpose()?;
        Ok(Self {
            repository,
            work_dir,
        })
    }

    /// Returns whether there is no work tree.
    pub fn is_bare(&self) -> bool {
        self.work_dir.is_none()
    }

    /// Finds the commit that a revision names, in any of Git's forms (gitrevisions(7)).
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

    /// Finds a path in the repository: as in the work tree, or in a bare repository from the top.
    /// Links in the work tree are not followed, because they are themselves committed.
    ///
    /// # Errors
    ///
    /// If it lies outside.
    pub fn path(&self, path: &Path) -> Result<TreePath, CommittedError> {
        let Some(work_dir) = &self.work_dir else {
            return Ok(TreePath::new(path.to_string_lossy().into(), path));
        };
        let inside = inside(work_dir, &spot(path)?.path, path)?;
        Ok(TreePath::new(inside, path))
    }

    /// Returns the symbolic links of the work tree because of which a table is more than the
    /// committed content of its path: the path itself, one on the way, or files of a directory;
    /// each with the file that it represents, as people know it, and its own path from the top.
    ///
    /// # Errors
    ///
    /// If the path lies outside, or its directory cannot be read.
    pub fn links(&self, path: &Path) -> Result<Vec<(PathBuf, String)>, CommittedError> {
        let Some(work_dir) = &self.work_dir else {
            return Ok(Vec::new());
        };
        let spot = spot(path)?;
        if let Some(link) = &spot.link {
            let link = inside(work_dir, link, path)?;
            return Ok(vec![(path.to_owned(), link)]);
        }
        if !spot.path.is_dir() {
            return Ok(Vec::new());
        }
        // A missing file is reported when it is read.
        let names = table_names(&spot.path).unwrap_or_default();
        let links = (names.iter()).filter(|name| spot.path.join(name).is_symlink());
        let reported = links.map(|name| {
            let link = inside(work_dir, &spot.path.join(name), path)?;
            Ok((path.join(name), link))
        });
        reported.collect()
    }

    /// Resolves a path as Git does: from the top, or from the current directory if it begins with
    /// `./` or `../`.
    ///
    /// # Errors
    ///
    /// If it leads out of the repository.
    pub fn path_in_commit(&self, path: &str) -> Result<TreePath, CommittedError> {
        let inside = match &self.work_dir {
            _ if !path.starts_with("./") && !path.starts_with("../") => Some(path.to_owned()),
            Some(work_dir) => from_top(work_dir, path),
            None => None,
        };
        let inside = inside.ok_or_else(|| CommittedError::OutsideTop(path.to_owned()))?;
        let shown = PathBuf::from(&inside);
        Ok(TreePath::new(inside, &shown))
    }

    /// Reads the table at a path, a file or a directory of files, of at most `max` bytes.
    ///
    /// # Errors
    ///
    /// If the commit holds no table there.
    pub fn read(
        &self,
        commit: CommitId,
        path: &TreePath,
        max: u64,
    ) -> Result<Vec<SourceFile>, CommittedError> {
        let commit = self.find(commit)?;
        let mut files = read_table(&self.repository, &commit, path.inside(), max)?;
        for file in &mut files {
            file.path = path.shown(&file.path);
        }
        Ok(files)
    }

    /// Reads the existing part of a table of several paths: nothing, if the commit has none of
    /// them.
    ///
    /// # Errors
    ///
    /// If the existing part cannot be read.
    pub fn read_all(
        &self,
        commit: CommitId,
        paths: &[TreePath],
        max: u64,
    ) -> Result<Vec<SourceFile>, CommittedError> {
        let mut files = Vec::new();
        for path in paths {
            match self.read(commit, path, max) {
                Err(error) if error.is_absence() => {}
                read => files.extend(read?),
            }
        }
        Ok(files)
    }

    /// Returns a value that shows whether paths have the same content in two commits.
    ///
    /// # Errors
    ///
    /// If Git cannot read the commit.
    pub fn version(&self, commit: CommitId, paths: &[TreePath]) -> Result<Version, CommittedError> {
        let commit = self.find(commit)?;
        let ids = paths.iter().map(|path| find_id(&commit, path.inside()));
        let ids = ids.collect::<Result<_, _>>()?;
        Ok(Version(ids))
    }

    pub(super) fn find(&self, commit: CommitId) -> Result<Commit<'_>, CommittedError> {
        let found = self.repository.find_commit(commit.0);
        found.map_err(|source| damaged(commit, source))
    }
}

fn spot(path: &Path) -> Result<Spot, CommittedError> {
    Spot::of(path).map_err(|error| CommittedError::io(path, error))
}

/// Returns the path from the top of a work tree, for a path that people gave.
fn inside(work_dir: &Path, place: &Path, path: &Path) -> Result<String, CommittedError> {
    match place.strip_prefix(work_dir) {
        Ok(inside) => Ok(inside.to_string_lossy().into()),
        Err(_) => Err(CommittedError::Outside {
            path: path.to_owned(),
            work_dir: work_dir.to_owned(),
        }),
    }
}

/// Returns the error for a commit that Git cannot read.
pub(super) fn damaged(commit: CommitId, source: git2::Error) -> CommittedError {
    let commit = commit.to_string();
    TreeError::Damaged { commit, source }.into()
}
