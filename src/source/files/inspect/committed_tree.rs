//! The content of one commit of a checkout, looked up by the paths of its files.
//!
//! Each directory is read once, however many files of it are looked up: a table may have thousands.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git2::{ErrorCode, ObjectType, Oid, Repository, Tree};

use crate::git::Symlink;
use crate::mapping::is_table_name;

/// The mode of a symbolic link in a tree (git-fast-import(1), "filemodify").
const LINK_MODE: i32 = 0o120_000;

/// The content of a commit at a path.
pub(super) enum TreeNode {
    File(Oid),
    Symlink(Oid),
    Directory(Oid),
}

/// The content of a commit at real paths.
pub(super) struct CommittedTree<'c> {
    repository: &'c Repository,
    /// The checkout's top directory, without links.
    work_dir: &'c Path,
    top: Tree<'c>,
    /// The directories in which files were looked up, by their paths from the top; `None` if there is none.
    /// Git does not keep large ones once they are read.
    directories: HashMap<PathBuf, Option<Tree<'c>>>,
}

impl<'c> CommittedTree<'c> {
    pub(super) fn new(repository: &'c Repository, work_dir: &'c Path, top: Tree<'c>) -> Self {
        Self {
            repository,
            work_dir,
            top,
            directories: HashMap::new(),
        }
    }

    /// Returns what is at a path, if anything.
    pub(super) fn entry(&mut self, path: &Path) -> Result<Option<TreeNode>, git2::Error> {
        let Ok(relative) = path.strip_prefix(self.work_dir) else {
            return Ok(None);
        };
        let (Some(parent), Some(name)) = (relative.parent(), relative.file_name()) else {
            return Ok(Some(TreeNode::Directory(self.top.id())));
        };
        let directory = match self.directories.get(parent) {
            Some(known) => known,
            None => {
                let found = self.directory(parent)?;
                let parent = parent.to_owned();
                self.directories.entry(parent).or_insert(found)
            }
        };
        let entry = directory
            .as_ref()
            .and_then(|directory| directory.get_name_bytes(name.as_bytes()));
        Ok(entry.map(|entry| match (entry.kind(), entry.filemode()) {
            (Some(ObjectType::Tree), _) => TreeNode::Directory(entry.id()),
            (_, LINK_MODE) => TreeNode::Symlink(entry.id()),
            _ => TreeNode::File(entry.id()),
        }))
    }

    /// Reads the directory at a path from the top, if there is one.
    fn directory(&self, path: &Path) -> Result<Option<Tree<'c>>, git2::Error> {
        if path.as_os_str().is_empty() {
            return Ok(Some(self.top.clone()));
        }
        let entry = match self.top.get_path(path) {
            Ok(entry) => entry,
            Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match entry.kind() {
            Some(ObjectType::Tree) => self.repository.find_tree(entry.id()).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns whether a link in the checkout was committed unchanged.
    ///
    /// Links outside that lead to the checkout say nothing about the table.
    pub(super) fn holds_link(&mut self, link: &Symlink) -> Result<bool, git2::Error> {
        if !link.path.starts_with(self.work_dir) {
            return Ok(true);
        }
        Ok(match self.entry(&link.path)? {
            Some(TreeNode::Symlink(id)) => {
                let target = link.target.as_os_str().as_bytes();
                id == Oid::hash_object(ObjectType::Blob, target)?
            }
            _ => false,
        })
    }

    /// Returns the names of the table files in a directory of a commit, sorted.
    pub(super) fn table_names(&mut self, path: &Path) -> Result<Vec<OsString>, git2::Error> {
        let Some(TreeNode::Directory(id)) = self.entry(path)? else {
            return Ok(Vec::new());
        };
        let mut names: Vec<OsString> = (self.repository.find_tree(id)?.iter())
            .map(|entry| OsStr::from_bytes(entry.name_bytes()).to_owned())
            .filter(|name| is_table_name(name))
            .collect();
        names.sort();
        Ok(names)
    }
}
