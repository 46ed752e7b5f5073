//! The Git checkout around a table, and how its current commit compares with the table's bytes.
//!
//! Bytes decide, not Git's index: a table is what was committed if each file equals, byte for byte,
//! the commit's content at its path. Filters (`autocrlf`, `ident`, LFS) are deliberately ignored: a
//! checkout whose bytes they changed does not serve what was reviewed, and so is dirty. A Git
//! failure never prevents a table from being read; its commit is then unknown, with a warning.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use git2::{ErrorCode, Oid, Repository};

use super::committed_tree::{CommittedTree, TreeNode};
use super::listing::Listing;
use super::trails::Trails;
use crate::git::{CommitId, ForeignRepository, work_tree};
use crate::mapping::Timestamp;

/// The checkouts that some files lie in: usually one or none.
#[derive(Debug)]
pub(crate) struct Surroundings {
    git_dirs: BTreeSet<PathBuf>,
    /// Whether a file lies outside any checkout.
    outside: bool,
    /// The directory of some file that lies in a checkout.
    inside: Option<PathBuf>,
}

impl Surroundings {
    /// Finds the checkouts around the real directories of a table.
    pub(crate) fn of(directories: &BTreeSet<&Path>) -> Self {
        let directories: BTreeSet<PathBuf> = (directories.iter())
            .filter_map(|directory| existing(directory))
            .collect();
        let mut found = Self {
            git_dirs: BTreeSet::new(),
            outside: false,
            inside: None,
        };
        for directory in directories {
            match work_tree::git_dir(&directory) {
                Ok(git_dir) => {
                    found.git_dirs.insert(git_dir);
                    found.inside = Some(directory);
                }
                Err(_) => found.outside = true,
            }
        }
        found
    }

    /// Returns the directories in which Git keeps the state of each checkout.
    pub(crate) fn git_dirs(&self) -> impl Iterator<Item = &PathBuf> {
        self.git_dirs.iter()
    }

    /// Opens the checkout, if all files lie in the same one.
    ///
    /// # Errors
    ///
    /// If a checkout exists but cannot be opened.
    pub(crate) fn open(&self) -> Result<Option<Checkout>, CheckoutWarning> {
        let (Some(git_dir), Some(inside), 1, false) = (
            self.git_dirs.first(),
            &self.inside,
            self.git_dirs.len(),
            self.outside,
        ) else {
            return Ok(None);
        };
        let repository = match Repository::open(git_dir) {
            Ok(repository) => repository,
            Err(error) if error.code() == ErrorCode::Owner => {
                return Err(CheckoutWarning::Foreign(ForeignRepository::around(inside)));
            }
            Err(source) => return Err(CheckoutWarning::git(git_dir, source)),
        };
        let Some(work_dir) = repository.workdir() else {
            // A bare repository has no checkout.
            return Ok(None);
        };
        match work_dir.canonicalize() {
            Ok(work_dir) => Ok(Some(Checkout {
                repository,
                work_dir,
            })),
            Err(source) => Err(CheckoutWarning::Io {
                path: git_dir.clone(),
                source,
            }),
        }
    }
}

fn existing(directory: &Path) -> Option<PathBuf> {
    (directory.ancestors())
        .find(|ancestor| ancestor.is_dir())
        .map(Path::to_owned)
}

/// Why the commit of a table in a checkout is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckoutWarning {
    /// Git does not trust the repository.
    #[error("the table's commit is not known: {0}")]
    Foreign(ForeignRepository),
    /// Git cannot use the repository.
    #[error("cannot use the Git repository {}, so its commit is not known", path.display())]
    Git {
        /// The repository.
        path: PathBuf,
        /// The error from Git.
        #[source]
        source: git2::Error,
    },
    /// The path of the checkout cannot be resolved.
    #[error("cannot use the Git repository {}, so its commit is not known", path.display())]
    Io {
        /// The repository.
        path: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
}

impl CheckoutWarning {
    fn git(path: &Path, source: git2::Error) -> Self {
        Self::Git {
            path: path.to_owned(),
            source,
        }
    }
}

/// An open Git checkout.
pub(crate) struct Checkout {
    repository: Repository,
    /// The checkout's top directory, without links.
    work_dir: PathBuf,
}

/// How a commit compares with a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommitComparison {
    /// The commit contains exactly this table.
    Clean(Timestamp),
    /// The commit contains some of the files, with these or other bytes.
    Dirty,
    /// The commit contains none of the files.
    Unknown,
}

impl Checkout {
    /// Returns the commit that is checked out, or `None` before the first one.
    ///
    /// # Errors
    ///
    /// If the repository cannot be read.
    pub(crate) fn head(&self) -> Result<Option<CommitId>, CheckoutWarning> {
        match self.repository.refname_to_id("HEAD") {
            Ok(id) => Ok(Some(id.into())),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(source) => Err(CheckoutWarning::git(self.repository.path(), source)),
        }
    }

    /// Compares a table's files, given by the identities of their contents, and the set of them, with the
    /// content of a commit.
    ///
    /// # Errors
    ///
    /// If Git cannot read the commit.
    pub(crate) fn judge(
        &self,
        commit: CommitId,
        listing: &Listing,
        trails: &Trails,
        blobs: &[Option<Oid>],
    ) -> Result<CommitComparison, CheckoutWarning> {
        self.compare(commit, listing, trails, blobs)
            .map_err(|source| CheckoutWarning::git(self.repository.path(), source))
    }

    /// Returns the directories in which a change means that another commit may be checked out.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        let common = self.repository.commondir();
        let mut directories = vec![
            self.repository.path().to_owned(),
            common.to_owned(),
            common.join("refs/heads"),
        ];
        if let Ok(head) = self.repository.find_reference("HEAD")
            && let Ok(Some(branch)) = head.symbolic_target()
            && let Some(parent) = common.join(branch).parent()
        {
            directories.push(parent.to_owned());
        }
        directories.retain(|directory| directory.is_dir());
        directories
    }

    fn compare(
        &self,
        commit: CommitId,
        listing: &Listing,
        trails: &Trails,
        blobs: &[Option<Oid>],
    ) -> Result<CommitComparison, git2::Error> {
        let commit = self.repository.find_commit(commit.0)?;
        let mut tree = CommittedTree::new(&self.repository, &self.work_dir, commit.tree()?);
        let mut known = false;
        let mut same = true;
        for (trail, blob) in trails.of_files(listing).zip(blobs) {
            let Some(trail) = trail else {
                same = false;
                continue;
            };
            let committed = tree.entry(&trail.end)?;
            known |= committed.is_some();
            same &= match committed {
                Some(TreeNode::File(id)) => Some(id) == *blob,
                _ => false,
            };
            for link in &trail.links {
                same &= tree.holds_link(link)?;
            }
        }
        for part in &listing.parts {
            let Some(names) = &part.names else { continue };
            same &= match &trails.named[part.number] {
                Some(trail) => tree.table_names(&trail.end)? == *names,
                None => false,
            };
        }
        Ok(match (known, same) {
            (false, _) => CommitComparison::Unknown,
            (true, true) => CommitComparison::Clean(Timestamp::from_unix(commit.time().seconds())),
            (true, false) => CommitComparison::Dirty,
        })
    }
}
