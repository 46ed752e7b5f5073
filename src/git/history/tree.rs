//! Reading files from a commit's tree, without a checkout.
//!
//! The content was committed whole, so there is nothing to wait for and nothing torn. A link, a
//! submodule or an LFS pointer is not followed but refused by name: its content is not in the
//! commit.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use git2::{Commit, ErrorCode, ObjectType, Odb, Oid, Repository, Tree, TreeEntry};

use crate::git::commit_id::CommitId;
use crate::git::setting::Setting;

/// The mode of a symbolic link in a tree (git-fast-import(1), "filemodify").
const LINK_MODE: i32 = 0o120_000;

/// The prefix of an LFS pointer (git-lfs, `docs/spec.md`), which is never longer than `LFS_MAX`.
const LFS_START: &[u8] = b"version https://git-lfs.github.com/spec/";
const LFS_MAX: usize = 1024;

/// The size limit of a directory's list of names in bytes, unless a table may be larger.
const MAX_LISTING: u64 = 16 << 20;

/// A file of a commit: its path, and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// The path in the repository, or the one that people know for it.
    pub path: Arc<str>,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Decides by its name whether a file of a directory is read.
pub type NameFilter = fn(&OsStr) -> bool;

/// Why the files of a commit cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// There is nothing at the path.
    #[error("the commit {commit} holds no {path}")]
    NotFound {
        /// The path as it was given.
        path: String,
        /// The commit.
        commit: CommitId,
    },
    /// It is, or goes through, something that is not a file.
    #[error("{path} is {kind} in the commit {commit}: commit the table itself as a file")]
    NotAFile {
        /// The path of what is not a file.
        path: String,
        /// What it is, with its article.
        kind: &'static str,
        /// The commit.
        commit: CommitId,
    },
    /// A directory holds no file that could be part of a table.
    #[error("no *.yaml or *.yml file in {path} of the commit {commit}: add one, or name a file")]
    NoYaml {
        /// The directory.
        path: String,
        /// The commit.
        commit: CommitId,
    },
    /// All files together are larger than allowed.
    #[error("the table is larger than {max} bytes at {path}: it has {size}")]
    TooLarge {
        /// The file that exceeded the limit.
        path: String,
        /// The number of bytes.
        size: u64,
        /// The limit in bytes.
        max: u64,
    },
    /// Git cannot read the commit's content.
    #[error("cannot read the commit {commit}")]
    Damaged {
        /// The commit.
        commit: CommitId,
        /// The error from Git.
        #[source]
        source: git2::Error,
    },
}

impl TreeError {
    /// Returns the setting that may have to be changed.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Self::NotFound { .. } => Some(Setting::TablePath),
            _ => None,
        }
    }

    /// Returns whether the repository seems to be at fault.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}

/// Reads the file at `path`, or the files directly in the directory there whose names `is_wanted`
/// accepts, sorted by name, of at most `max` bytes together.
///
/// Each file is named by its path in the repository.
///
/// # Errors
///
/// If the commit has no such file there, or one that cannot be read.
pub fn read_files(
    repository: &Repository,
    commit: &Commit<'_>,
    path: &str,
    max: u64,
    is_wanted: NameFilter,
) -> Result<Vec<TreeFile>, TreeError> {
    TreeReader {
        repository,
        odb: repository.odb().map_err(|source| TreeError::Damaged {
            commit: commit.id().into(),
            source,
        })?,
        commit: commit.id().into(),
        max,
        is_wanted,
    }
    .read(commit, path)
}

/// Returns the id of the object at `path`, if there is one.
pub(crate) fn find_id(commit: &Commit<'_>, path: &str) -> Result<Option<Oid>, TreeError> {
    let damaged = |source| TreeError::Damaged {
        commit: commit.id().into(),
        source,
    };
    let parts = Path::new(path).components();
    let path: PathBuf = parts
        .filter(|it| matches!(it, Component::Normal(_)))
        .collect();
    if path.as_os_str().is_empty() {
        return Ok(Some(commit.tree_id()));
    }
    match commit.tree().map_err(damaged)?.get_path(&path) {
        Ok(entry) => Ok(Some(entry.id())),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(damaged(error)),
    }
}

struct TreeReader<'a> {
    repository: &'a Repository,
    odb: Odb<'a>,
    commit: CommitId,
    max: u64,
    is_wanted: NameFilter,
}

/// The content of a tree under a name.
enum NamedObject {
    Blob(Oid),
    Tree(Oid),
    Other(&'static str),
}

impl NamedObject {
    fn of(entry: &TreeEntry<'_>) -> Self {
        match (entry.kind(), entry.filemode()) {
            (Some(ObjectType::Tree), _) => Self::Tree(entry.id()),
            (Some(ObjectType::Commit), _) => Self::Other("a submodule"),
            (_, LINK_MODE) => Self::Other("a symbolic link"),
            (Some(ObjectType::Blob), _) => Self::Blob(entry.id()),
            _ => Self::Other("no file"),
        }
    }
}

impl TreeReader<'_> {
    fn read(&self, commit: &Commit<'_>, path: &str) -> Result<Vec<TreeFile>, TreeError> {
        let files = match self.find(commit, path)? {
            NamedObject::Blob(id) => vec![(path.to_owned(), id)],
            NamedObject::Tree(id) => self.list(path, id)?,
            NamedObject::Other(kind) => return Err(self.not_a_file(path, kind)),
        };
        self.check_size(&files)?;
        (files.into_iter())
            .map(|(path, id)| {
                let object = self.odb.read(id).map_err(|e| self.damaged(e))?;
                let bytes = object.data();
                if bytes.len() <= LFS_MAX && bytes.starts_with(LFS_START) {
                    return Err(self.not_a_file(&path, "a Git LFS pointer"));
                }
                Ok(TreeFile {
                    path: path.into(),
                    bytes: bytes.to_vec(),
                })
            })
            .collect()
    }

    /// Adds up all sizes, so that content over the limit is never in memory. A blob that occurs
    /// twice counts twice, because it is read and compiled twice.
    fn check_size(&self, files: &[(String, Oid)]) -> Result<(), TreeError> {
        let mut total = 0_u64;
        let mut passed = None;
        for (path, id) in files {
            let (size, _) = self.odb.read_header(*id).map_err(|e| self.damaged(e))?;
            total = total.saturating_add(size as u64);
            if total > self.max {
                passed.get_or_insert(path);
            }
        }
        match passed {
            None => Ok(()),
            Some(path) => Err(TreeError::TooLarge {
                path: path.clone(),
                size: total,
                max: self.max,
            }),
        }
    }

    /// Follows a path part by part, to name the part that is no directory.
    fn find(&self, commit: &Commit<'_>, path: &str) -> Result<NamedObject, TreeError> {
        let mut found = NamedObject::Tree(commit.tree_id());
        let mut walked = String::new();
        for part in path
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
        {
            let tree = match found {
                NamedObject::Tree(id) => self.tree(id)?,
                NamedObject::Other(kind) => return Err(self.not_a_file(&walked, kind)),
                NamedObject::Blob(_) => return Err(self.not_found(path)),
            };
            let entry = tree.get_name(part).ok_or_else(|| self.not_found(path))?;
            found = NamedObject::of(&entry);
            if !walked.is_empty() {
                walked.push('/');
            }
            walked += part;
        }
        Ok(found)
    }

    /// Lists the wanted files directly in a directory, sorted by name.
    fn list(&self, path: &str, id: Oid) -> Result<Vec<(String, Oid)>, TreeError> {
        let tree = self.tree(id)?;
        let mut entries: Vec<TreeEntry<'_>> = (tree.iter())
            .filter(|entry| (self.is_wanted)(OsStr::from_bytes(entry.name_bytes())))
            .collect();
        entries.sort_by(|one, other| one.name_bytes().cmp(other.name_bytes()));
        let directory = path.trim_end_matches('/');
        let mut files = Vec::with_capacity(entries.len());
        for entry in entries {
            let name = String::from_utf8_lossy(entry.name_bytes());
            let path = match directory {
                "" | "." => name.into_owned(),
                _ => format!("{directory}/{name}"),
            };
            match NamedObject::of(&entry) {
                NamedObject::Blob(id) => files.push((path, id)),
                NamedObject::Tree(_) => return Err(self.not_a_file(&path, "a directory")),
                NamedObject::Other(kind) => return Err(self.not_a_file(&path, kind)),
            }
        }
        if files.is_empty() {
            return Err(TreeError::NoYaml {
                path: path.to_owned(),
                commit: self.commit,
            });
        }
        Ok(files)
    }

    fn tree(&self, id: Oid) -> Result<Tree<'_>, TreeError> {
        let (size, _) = self.odb.read_header(id).map_err(|e| self.damaged(e))?;
        let max = self.max.max(MAX_LISTING);
        if size as u64 > max {
            return Err(TreeError::TooLarge {
                path: "a directory on the way".to_owned(),
                size: size as u64,
                max,
            });
        }
        self.repository.find_tree(id).map_err(|e| self.damaged(e))
    }

    fn damaged(&self, source: git2::Error) -> TreeError {
        TreeError::Damaged {
            commit: self.commit,
            source,
        }
    }

    fn not_found(&self, path: &str) -> TreeError {
        TreeError::NotFound {
            path: path.to_owned(),
            commit: self.commit,
        }
    }

    fn not_a_file(&self, path: &str, kind: &'static str) -> TreeError {
        TreeError::NotAFile {
            path: path.to_owned(),
            kind,
            commit: self.commit,
        }
    }
}
