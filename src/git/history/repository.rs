//! A local repository: the content of its commits, without touching the work tree.
//!
//! For commands that compare the current, a former and a proposed state. `ancestry` covers the
//! relations between commits.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use git2::{Commit, ErrorCode, Oid, Repository};

use super::repository_error::RepositoryError;
use super::tree::TreeError;
use super::tree::{NameFilter, TreeFile, find_object, read_files};
use super::tree_path::{TreePath, from_top};
use crate::git::commit_id::CommitId;
use crate::git::foreign_repository::ForeignRepository;
use crate::git::transport::RemoteUrl;
use crate::git::work_tree::{WorkTreePath, git_dir};

/// A local repository.
pub struct LocalRepository {
    pub(crate) repository: Repository,
    /// The checkout's top directory, without links; a bare repository has none.
    work_dir: Option<PathBuf>,
}

/// The contents of some paths in a commit; equal values mean equal contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(Vec<Option<Oid>>);

impl Version {
    pub(super) fn ids(&self) -> &[Option<Oid>] {
        &self.0
    }
}

impl LocalRepository {
    /// Opens the repository around a path, which itself need not exist.
    ///
    /// # Errors
    ///
    /// If there is none, or Git cannot or will not use it.
    pub fn around(path: &Path) -> Result<Self, RepositoryError> {
        let located = locate(path)?;
        let directory = located.directory();
        let git_dir = git_dir(directory).map_err(|_| RepositoryError::NoRepository {
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
    pub fn here() -> Result<Self, RepositoryError> {
        let here = env::current_dir().unwrap_or_else(|_| ".".into());
        Self::open(Repository::open_from_env(), &here, &here)
    }

    fn open(
        opened: Result<Repository, git2::Error>,
        path: &Path,
        directory: &Path,
    ) -> Result<Self, RepositoryError> {
        let repository = opened.map_err(|source| {
            let path = path.to_owned();
            match source.code() {
                ErrorCode::NotFound => RepositoryError::NoRepository { path },
                ErrorCode::Owner => RepositoryError::Foreign(ForeignRepository::around(directory)),
                _ => RepositoryError::Unusable { path, source },
            }
        })?;
        let work_dir = repository.workdir().map(|work_dir| {
            let real = work_dir.canonicalize();
            real.map_err(|error| RepositoryError::io(work_dir, error))
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

    /// Returns the top of the work tree, without links; a bare repository has none.
    pub fn work_dir(&self) -> Option<&Path> {
        self.work_dir.as_deref()
    }

    /// Returns the address of the remote `origin`, if there is one.
    pub fn origin(&self) -> Option<RemoteUrl> {
        let origin = self.repository.find_remote("origin").ok()?;
        RemoteUrl::parse(origin.url().ok()?).ok()
    }

    /// Finds the commit that a revision names, in any of Git's forms (gitrevisions(7)).
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn commit(&self, revision: &str) -> Result<CommitId, RepositoryError> {
        let object = self.repository.revparse_single(revision);
        match object.and_then(|object| object.peel_to_commit()) {
            Ok(commit) => Ok(CommitId(commit.id())),
            Err(source) => {
                let revision = revision.to_owned();
                Err(match source.code() {
                    ErrorCode::NotFound | ErrorCode::InvalidSpec | ErrorCode::Peel => {
                        RepositoryError::UnknownRevision { revision }
                    }
                    _ => RepositoryError::UnreadableRevision { revision, source },
                })
            }
        }
    }

    /// Finds a path in the repository: as in the work tree, or in a bare repository from the top.
    /// Links in the work tree are not followed, because they are themselves committed.
    ///
    /// # Errors
    ///
    /// If it lies outside.
    pub fn path(&self, path: &Path) -> Result<TreePath, RepositoryError> {
        let Some(work_dir) = &self.work_dir else {
            return Ok(TreePath::new(path.to_string_lossy().into(), path));
        };
        let inside = inside(work_dir, &locate(path)?.path, path)?;
        Ok(TreePath::new(inside, path))
    }

    /// Returns the symbolic links of the work tree because of which the files at a path are more
    /// than its committed content: the path itself, one on the way, or wanted files of a directory;
    /// each with the file that it represents, as people know it, and its own path from the top.
    ///
    /// # Errors
    ///
    /// If the path lies outside, or its directory cannot be read.
    pub fn links(
        &self,
        path: &Path,
        is_wanted: NameFilter,
    ) -> Result<Vec<(PathBuf, String)>, RepositoryError> {
        let Some(work_dir) = &self.work_dir else {
            return Ok(Vec::new());
        };
        let located = locate(path)?;
        if let Some(link) = &located.link {
            let link = inside(work_dir, link, path)?;
            return Ok(vec![(path.to_owned(), link)]);
        }
        if !located.path.is_dir() {
            return Ok(Vec::new());
        }
        // A directory that cannot be listed is reported when it is read.
        let listed = fs::read_dir(&located.path).into_iter().flatten().flatten();
        let names = listed.map(|entry| entry.file_name());
        let mut links: Vec<_> = names
            .filter(|name| is_wanted(name) && located.path.join(name).is_symlink())
            .collect();
        links.sort();
        let reported = links.into_iter().map(|name| {
            let link = inside(work_dir, &located.path.join(&name), path)?;
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
    pub fn path_in_commit(&self, path: &str) -> Result<TreePath, RepositoryError> {
        let inside = match &self.work_dir {
            _ if !path.starts_with("./") && !path.starts_with("../") => Some(path.to_owned()),
            Some(work_dir) => from_top(work_dir, path),
            None => None,
        };
        let inside = inside.ok_or_else(|| RepositoryError::OutsideTop(path.to_owned()))?;
        let shown = PathBuf::from(&inside);
        Ok(TreePath::new(inside, &shown))
    }

    /// Reads the file at a path, or the wanted files of the directory there, of at most `max` bytes.
    ///
    /// # Errors
    ///
    /// If the commit has no such file there.
    pub fn read(
        &self,
        commit: CommitId,
        path: &TreePath,
        max: u64,
        is_wanted: NameFilter,
    ) -> Result<Vec<TreeFile>, RepositoryError> {
        let commit = self.find(commit)?;
        let mut files = read_files(&self.repository, &commit, path.inside(), max, is_wanted)?;
        for file in &mut files {
            file.path = path.shown(&file.path);
        }
        Ok(files)
    }

    /// Reads the existing part of several paths: nothing, if the commit has none of them.
    ///
    /// # Errors
    ///
    /// If the existing part cannot be read.
    pub fn read_all(
        &self,
        commit: CommitId,
        paths: &[TreePath],
        max: u64,
        is_wanted: NameFilter,
    ) -> Result<Vec<TreeFile>, RepositoryError> {
        let mut files = Vec::new();
        for path in paths {
            match self.read(commit, path, max, is_wanted) {
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
    pub fn version(
        &self,
        commit: CommitId,
        paths: &[TreePath],
    ) -> Result<Version, RepositoryError> {
        let commit = self.find(commit)?;
        let ids = paths.iter().map(|path| {
            let found = find_object(&commit, path.inside())?;
            Ok(found.map(|(id, _)| id))
        });
        let ids = ids.collect::<Result<_, RepositoryError>>()?;
        Ok(Version(ids))
    }

    pub(crate) fn find(&self, commit: CommitId) -> Result<Commit<'_>, RepositoryError> {
        let found = self.repository.find_commit(commit.0);
        found.map_err(|source| damaged(commit, source))
    }
}

fn locate(path: &Path) -> Result<WorkTreePath, RepositoryError> {
    WorkTreePath::of(path).map_err(|error| RepositoryError::io(path, error))
}

/// Returns the path from the top of a work tree, for a path that people gave.
fn inside(work_dir: &Path, place: &Path, path: &Path) -> Result<String, RepositoryError> {
    match place.strip_prefix(work_dir) {
        Ok(inside) => Ok(inside.to_string_lossy().into()),
        Err(_) => Err(RepositoryError::Outside {
            path: path.to_owned(),
            work_dir: work_dir.to_owned(),
        }),
    }
}

/// Returns the error for a commit that Git cannot read.
pub(crate) fn damaged(commit: CommitId, source: git2::Error) -> RepositoryError {
    TreeError::Damaged { commit, source }.into()
}
