//! Reading files from a commit's tree, without a checkout.
//!
//! The content was committed whole, so there is nothing to wait for and nothing torn. A link, a
//! submodule or an LFS pointer is not followed but refused by name: its content is not in the
//! commit.

use std::cell::OnceCell;
use std::error::Error;
use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use git2::{Commit, ErrorCode, ObjectType, Odb, Oid, Repository, Tree, TreeEntry};

use crate::git::commit_id::CommitId;
use crate::git::object_header::header;
use crate::git::objects::id_of;
use crate::git::packs::{PackError, PackedBlobs};
use crate::git::setting::Setting;

/// The mode of a symbolic link in a tree (git-fast-import(1), "filemodify").
const LINK_MODE: i32 = 0o120_000;

/// The mode of a file in a tree, without its permissions.
pub(super) const FILE_MODE: i32 = 0o100_000;

/// The bits of a mode that say what an entry is.
pub(super) const MODE_KIND: i32 = 0o170_000;

/// The mode of a directory in a tree.
pub(super) const TREE_MODE: i32 = 0o040_000;

/// The prefix of an LFS pointer (git-lfs, `docs/spec.md`), which is never longer than `LFS_MAX`.
const LFS_START: &[u8] = b"version https://git-lfs.github.com/spec/";
const LFS_MAX: usize = 1024;

/// The size in bytes from which a file is read step by step; no LFS pointer has it.
const STREAMED: u64 = 1 << 20;

/// The size limit of a directory's list of names in bytes, unless a table may be larger.
pub(super) const MAX_LISTING: u64 = 16 << 20;

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
    #[error("the commit {commit} does not contain {path}")]
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

/// Reads the files that [`each_file`] finds, each named by its path in the repository.
///
/// # Errors
///
/// Those of [`each_file`], and if a file cannot be read.
pub(super) fn read_files(
    repository: &Repository,
    commit: &Commit<'_>,
    path: &str,
    max: u64,
    is_wanted: NameFilter,
) -> Result<Vec<TreeFile>, TreeError> {
    each_file(repository, commit, path, max, is_wanted, |file| {
        let bytes = match file.whole_in_pack() {
            Some(bytes) => bytes,
            None => file.read(<[u8]>::to_vec)?,
        };
        let path = file.path.into();
        Ok(TreeFile { path, bytes })
    })
}

/// Finds the file at `path` in a commit, or the files directly in the directory there whose names
/// `is_wanted` accepts, sorted by name, of at most `max` bytes together, and returns what `take` makes
/// of each: it may read the content.
///
/// # Errors
///
/// If the commit has no such file there, if the files are larger than `max`, and those of `take`.
pub fn each_file<T>(
    repository: &Repository,
    commit: &Commit<'_>,
    path: &str,
    max: u64,
    is_wanted: NameFilter,
    take: impl FnMut(FoundFile<'_>) -> Result<T, TreeError>,
) -> Result<Vec<T>, TreeError> {
    TreeReader {
        repository,
        odb: repository.odb().map_err(|source| TreeError::Damaged {
            commit: commit.id().into(),
            source,
        })?,
        packs: OnceCell::new(),
        commit: commit.id().into(),
        max,
        is_wanted,
    }
    .each(commit, path, take)
}

/// A file of a commit, whose content can be read.
pub struct FoundFile<'a> {
    /// The path in the repository.
    pub path: &'a str,
    /// The identity of the content.
    pub id: Oid,
    /// The length of the content, in bytes.
    pub size: u64,
    /// Whether there is no other.
    pub is_only: bool,
    reader: &'a TreeReader<'a>,
}

impl FoundFile<'_> {
    /// Reads the content, and returns what `take` makes of it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is only a pointer to the content.
    pub fn read<T>(&self, take: impl FnOnce(&[u8]) -> T) -> Result<T, TreeError> {
        let object = self.reader.odb.read(self.id);
        let object = object.map_err(|error| self.reader.damaged(error))?;
        let bytes = object.data();
        if bytes.len() <= LFS_MAX && bytes.starts_with(LFS_START) {
            return Err(self.reader.not_a_file(self.path, "a Git LFS pointer"));
        }
        Ok(take(bytes))
    }

    /// Returns the packs for a large file; for a small one, they are not opened.
    fn packs_if_large(&self) -> Option<&PackedBlobs> {
        (self.size >= STREAMED).then(|| self.reader.packs())?
    }

    /// Returns the whole content of a large file that is stored in a pack without damage.
    ///
    /// libgit2 would also detect attacks on SHA-1 while it hashes, which takes longer than inflating.
    fn whole_in_pack(&self) -> Option<Vec<u8>> {
        let mut content = self
            .packs_if_large()?
            .stream(self.id, self.reader.max)
            .ok()??;
        let mut bytes = Vec::with_capacity(usize::try_from(self.size).ok()?);
        content.read_to_end(&mut bytes).ok()?;
        (id_of(ObjectType::Blob, &bytes) == self.id).then_some(bytes)
    }

    /// Reads the content step by step, and returns what `take` makes of it. A large file is never whole in
    /// memory, unless it is stored in an unusual way.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is only a pointer to the content; those of `take` are damage of the commit.
    pub fn stream<T>(
        &self,
        take: impl FnOnce(&mut (dyn io::Read + Send)) -> io::Result<T>,
    ) -> Result<T, TreeError> {
        let damaged = |error: &dyn Error| {
            let error = git2::Error::from_str(&error.to_string());
            self.reader.damaged(error)
        };
        if let Some(packs) = self.packs_if_large() {
            match packs.stream(self.id, self.reader.max) {
                Ok(Some(mut stream)) => return take(&mut stream).map_err(|error| damaged(&error)),
                Ok(None) | Err(PackError::TooLarge(_)) => {}
                Err(error) => return Err(damaged(&error)),
            }
        }
        self.read(|mut bytes| take(&mut bytes))?
            .map_err(|error| damaged(&error))
    }
}

/// Returns the id and the mode of the object at `path`, if there is one.
pub(super) fn find_object(
    commit: &Commit<'_>,
    path: &str,
) -> Result<Option<(Oid, i32)>, TreeError> {
    let damaged = |source| TreeError::Damaged {
        commit: commit.id().into(),
        source,
    };
    let parts = Path::new(path).components();
    let path: PathBuf = parts
        .filter(|it| matches!(it, Component::Normal(_)))
        .collect();
    if path.as_os_str().is_empty() {
        return Ok(Some((commit.tree_id(), TREE_MODE)));
    }
    match commit.tree().map_err(damaged)?.get_path(&path) {
        Ok(entry) => Ok(Some((entry.id(), entry.filemode()))),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(damaged(error)),
    }
}

struct TreeReader<'a> {
    repository: &'a Repository,
    odb: Odb<'a>,
    /// The packs, once a large file is read; `None` if Git has to read it.
    packs: OnceCell<Option<PackedBlobs>>,
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
    fn packs(&self) -> Option<&PackedBlobs> {
        let packs = self.packs.get_or_init(|| {
            let directory = self.repository.commondir().join("objects/pack");
            PackedBlobs::open(&directory).ok().flatten()
        });
        packs.as_ref()
    }

    fn each<T>(
        &self,
        commit: &Commit<'_>,
        path: &str,
        mut take: impl FnMut(FoundFile<'_>) -> Result<T, TreeError>,
    ) -> Result<Vec<T>, TreeError> {
        let files = match self.find(commit, path)? {
            NamedObject::Blob(id) => vec![(path.to_owned(), id)],
            NamedObject::Tree(id) => self.list(path, id)?,
            NamedObject::Other(kind) => return Err(self.not_a_file(path, kind)),
        };
        let sizes = self.sizes(&files)?;
        let is_only = files.len() == 1;
        let found = files.iter().zip(sizes).map(|((path, id), size)| {
            take(FoundFile {
                path,
                id: *id,
                size,
                is_only,
                reader: self,
            })
        });
        found.collect()
    }

    /// Returns all sizes, and adds them up, so that content over the limit is never in memory. A blob
    /// that occurs twice counts twice, because it is read and compiled twice.
    fn sizes(&self, files: &[(String, Oid)]) -> Result<Vec<u64>, TreeError> {
        let mut total = 0_u64;
        let mut passed = None;
        let mut sizes = Vec::with_capacity(files.len());
        for (path, id) in files {
            let (size, _) = header(&self.odb, *id).map_err(|e| self.damaged(e))?;
            sizes.push(size);
            total = total.saturating_add(size);
            if total > self.max {
                passed.get_or_insert(path);
            }
        }
        match passed {
            None => Ok(sizes),
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
        let (size, _) = header(&self.odb, id).map_err(|e| self.damaged(e))?;
        let max = self.max.max(MAX_LISTING);
        if size > max {
            return Err(TreeError::TooLarge {
                path: "a directory on the way".to_owned(),
                size,
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

#[cfg(test)]
mod tests {
    use std::fs;

    use git2::Signature;

    use super::*;
    use crate::git::testing::pack_alone;

    #[test]
    fn a_large_file_is_not_read_from_a_pack_with_damage() {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::init(directory.path()).unwrap();
        let texts = ["a", "b"].map(|line| format!("{line}\n").repeat(STREAMED as usize / 2));
        let blobs = texts
            .each_ref()
            .map(|text| repository.blob(text.as_bytes()).unwrap());
        let mut tree = repository.treebuilder(None).unwrap();
        tree.insert("t.yaml", blobs[0], FILE_MODE | 0o644).unwrap();
        let tree = repository.find_tree(tree.write().unwrap()).unwrap();
        let author = Signature::now("A", "a@example.org").unwrap();
        let commit = repository
            .commit(None, &author, &author, "", &tree, &[])
            .unwrap();
        let packs = blobs.map(|blob| pack_alone(&repository, blob));
        let contents = packs.each_ref().map(|pack| fs::read(pack).unwrap());
        let read = || {
            let repository = Repository::open(directory.path()).unwrap();
            let commit = repository.find_commit(commit).unwrap();
            let files = read_files(&repository, &commit, "t.yaml", u64::MAX, |_| true).unwrap();
            files.into_iter().next().unwrap().bytes
        };
        assert!(read() == texts[0].as_bytes());
        // Loose copies are as they were.
        for damaged in [&contents[1][..], &contents[0][..contents[0].len() / 2], b""] {
            fs::remove_file(&packs[0]).unwrap();
            fs::write(&packs[0], damaged).unwrap();
            assert!(read() == texts[0].as_bytes());
        }
    }
}
