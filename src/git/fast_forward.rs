//! Moving a checkout forward to a fetched commit, as `git merge --ff-only` does.
//!
//! Git's own protocol is followed: `index.lock` is held from the first check to the last write, the
//! index is replaced in one step, and the branch moves only if it has not moved meanwhile. So a
//! commit by a person, a pull by a cron job and this one never interfere. Hooks and filters are not
//! run.
//!
//! `git` itself reads the index before it locks it, and may then write the entries of an older
//! commit over those of a newer one. Such entries are not changes by a person, and are replaced.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use git2::build::CheckoutBuilder;
use git2::{
    CheckoutNotificationType, Delta, Diff, DiffFile, ErrorCode, Index, IndexEntry, IndexTime,
    ObjectType, Oid, Repository, RepositoryState, Status, Tree,
};

/// The path of the next index before it replaces the old one.
const NEXT_INDEX: &str = "index.waypost";

/// The number of moves of a branch after which a running `git` can still write the index it read
/// before them.
const EARLIER: usize = 8;

/// The maximum number of files that a message names.
const NAMED: usize = 3;

/// Why a checkout was left unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FastForwardError {
    /// Another Git command is running, or was killed.
    #[error("{} exists: remove it if no git command is running", path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
    },
    /// Both sides have commits of their own.
    #[error(
        "the checkout's {branch} has commits that its remote does not have, so it cannot be \
         fast-forwarded: push them, or `git reset --hard` to the remote's branch"
    )]
    Diverged {
        /// The branch that is checked out.
        branch: String,
    },
    /// Another branch was checked out meanwhile.
    #[error("{branch} is no longer checked out: the next pull follows the branch that is")]
    Switched {
        /// The branch that was checked out.
        branch: String,
    },
    /// Changed files would be overwritten.
    #[error("local changes would be overwritten in {files}: commit them, or undo them")]
    LocalChanges {
        /// Some of the files.
        files: String,
    },
    /// A merge, a rebase or similar is in progress.
    #[error("the checkout is in the middle of another operation: finish or abort it")]
    Unfinished,
    /// A file of the repository cannot be written.
    #[error("cannot write {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
    /// Git reported an error.
    #[error("cannot fast-forward the checkout")]
    Git(#[from] git2::Error),
}

/// Moves the current branch, with its files, to a commit that descends from it.
///
/// Returns whether anything moved: nothing does if the branch already contains the commit.
pub(crate) fn fast_forward(
    repository: &Repository,
    branch: &str,
    tip: Oid,
) -> Result<bool, FastForwardError> {
    // Checked before the lock, so that a checkout that cannot be moved is not locked needlessly at
    // each pull, and again under it, when no one else can move it.
    if from(repository, branch, tip)?.is_none() {
        return Ok(false);
    }
    let lock = Lock::take(repository.path())?;
    let Some(old) = from(repository, branch, tip)? else {
        return Ok(false);
    };
    let step = CheckoutStep {
        repository,
        branch,
        old,
        tip,
        before: repository.find_commit(old)?.tree()?,
        after: repository.find_commit(tip)?.tree()?,
    };
    let taken = step.take();
    // Removed on any outcome.
    let _ = fs::remove_file(repository.path().join(NEXT_INDEX));
    taken?;
    drop(lock);
    Ok(true)
}

/// Returns the commit from which to move the branch; `None` if there is nothing to do.
fn from(repository: &Repository, branch: &str, tip: Oid) -> Result<Option<Oid>, FastForwardError> {
    let old = repository.refname_to_id(branch)?;
    if old == tip || repository.graph_descendant_of(old, tip)? {
        return Ok(None);
    }
    if repository.state() != RepositoryState::Clean {
        return Err(FastForwardError::Unfinished);
    }
    let name = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    if repository.find_reference("HEAD")?.symbolic_target()? != Some(branch) {
        return Err(FastForwardError::Switched {
            branch: name.to_owned(),
        });
    }
    if !repository.graph_descendant_of(tip, old)? {
        return Err(FastForwardError::Diverged {
            branch: name.to_owned(),
        });
    }
    Ok(Some(old))
}

/// A move from one commit to another, under the lock.
struct CheckoutStep<'a> {
    repository: &'a Repository,
    branch: &'a str,
    old: Oid,
    tip: Oid,
    before: Tree<'a>,
    after: Tree<'a>,
}

impl CheckoutStep<'_> {
    fn take(&self) -> Result<(), FastForwardError> {
        let diff =
            (self.repository).diff_tree_to_tree(Some(&self.before), Some(&self.after), None)?;
        let mut next = self.copy_index()?;
        self.refuse_local_changes(&diff)?;
        self.checkout(&diff)?;
        let moved = self
            .write_index(&mut next, &diff)
            .and_then(|()| self.move_branch());
        if moved.is_err() {
            self.undo(&diff);
        }
        moved
    }

    fn index_path(&self) -> PathBuf {
        self.repository.path().join("index")
    }

    fn copy_index(&self) -> Result<Index, FastForwardError> {
        let path = self.repository.path().join(NEXT_INDEX);
        match fs::copy(self.index_path(), &path) {
            Ok(_) => {}
            // A checkout without any file may have no index.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(FastForwardError::Io { path, source }),
        }
        Ok(Index::open(&path)?)
    }

    /// Fails if a file to be written differs from the old commit, in the checkout or in the index.
    fn refuse_local_changes(&self, diff: &Diff<'_>) -> Result<(), FastForwardError> {
        let root = self.repository.workdir().unwrap_or(Path::new("/"));
        let mut changed = Vec::new();
        for delta in diff.deltas() {
            let Some(path) = delta.new_file().path().or(delta.old_file().path()) else {
                continue;
            };
            let clean = match self.repository.status_file(path) {
                Ok(Status::CURRENT) => delta.status() != Delta::Added,
                Ok(_) => self.is_outdated_entry(path, &delta.old_file())?,
                // Unknown to Git, as a new file must be.
                Err(error) if error.code() == ErrorCode::NotFound => {
                    delta.status() == Delta::Added && root.join(path).symlink_metadata().is_err()
                }
                Err(error) => return Err(error.into()),
            };
            if !clean {
                changed.push(path.display().to_string());
            }
        }
        match changed.is_empty() {
            true => Ok(()),
            false => Err(local_changes(&changed)),
        }
    }

    /// Whether a file is that of the old commit, and only its entry in the index is that of an
    /// earlier one.
    ///
    /// A `git` that read the index before the branch was moved, and wrote it afterwards, leaves it
    /// so. Replacing the entry loses nothing: both texts are in commits.
    fn is_outdated_entry(&self, path: &Path, old: &DiffFile<'_>) -> Result<bool, git2::Error> {
        let root = self.repository.workdir().unwrap_or(Path::new("/"));
        let file = Oid::hash_file(ObjectType::Blob, root.join(path)).ok();
        if file != Some(old.id()).filter(|id| !id.is_zero()) {
            return Ok(false);
        }
        let entry = (self.repository.index()?.get_path(path, 0)).map(|it| it.id);
        let moves = self.repository.reflog(self.branch)?;
        let mut earlier = moves.iter().take(EARLIER).map(|it| it.id_old());
        Ok(earlier.any(|commit| {
            let tree = self.repository.find_commit(commit).and_then(|it| it.tree());
            tree.is_ok_and(|tree| tree.get_path(path).ok().map(|it| it.id()) == entry)
        }))
    }

    /// Writes the files that differ. Git checks again, and refuses to overwrite changes.
    fn checkout(&self, diff: &Diff<'_>) -> Result<(), FastForwardError> {
        let mut conflicts: Vec<String> = Vec::new();
        let mut options = CheckoutBuilder::new();
        options
            .safe()
            .update_index(false)
            .notify_on(CheckoutNotificationType::CONFLICT)
            .notify(|_, path, _, _, _| {
                conflicts.extend(path.map(|path| path.display().to_string()));
                true
            });
        let written = (self.repository).checkout_tree(self.after.as_object(), Some(&mut options));
        drop(options);
        match written {
            Ok(()) => Ok(()),
            // In this case nothing was written.
            Err(error) if error.code() == ErrorCode::Conflict => Err(local_changes(&conflicts)),
            Err(error) => {
                self.undo(diff);
                Err(error.into())
            }
        }
    }

    /// Adds the written files to the index, and replaces the old one in one step.
    fn write_index(&self, next: &mut Index, diff: &Diff<'_>) -> Result<(), FastForwardError> {
        let root = self.repository.workdir().unwrap_or(Path::new("/"));
        for delta in diff.deltas() {
            let Some(path) = delta.new_file().path().or(delta.old_file().path()) else {
                continue;
            };
            if delta.status() == Delta::Deleted {
                next.remove(path, 0)?;
            } else {
                next.add(&entry(&delta.new_file(), &root.join(path)))?;
            }
        }
        next.write()?;
        let path = self.index_path();
        fs::rename(self.repository.path().join(NEXT_INDEX), &path)
            .map_err(|source| FastForwardError::Io { path, source })
    }

    /// Moves the branch, unless another pull has moved it to the same commit: `git merge` does so after
    /// it has released the index.
    fn move_branch(&self) -> Result<(), FastForwardError> {
        let reason = "pull: Fast-forward";
        let moved =
            (self.repository).reference_matching(self.branch, self.tip, true, self.old, reason);
        match moved {
            Err(_) if self.repository.refname_to_id(self.branch)? == self.tip => Ok(()),
            moved => Ok(moved.map(drop)?),
        }
    }

    /// Restores the files and the index, as far as possible. They contained nothing but the old
    /// commit.
    fn undo(&self, diff: &Diff<'_>) {
        let mut options = CheckoutBuilder::new();
        options
            .force()
            .disable_pathspec_match(true)
            .update_index(false);
        let root = self.repository.workdir().unwrap_or(Path::new("/"));
        let mut changed = false;
        for delta in diff.deltas() {
            match (delta.status(), delta.new_file().path()) {
                // It did not exist before, or it would have been a conflict.
                (Delta::Added, Some(path)) => {
                    let _ = fs::remove_file(root.join(path));
                }
                _ => {
                    if let Some(path) = delta.old_file().path() {
                        options.path(path);
                        changed = true;
                    }
                }
            }
        }
        // Without a path it would restore every file.
        let files = match changed {
            true => self
                .repository
                .checkout_tree(self.before.as_object(), Some(&mut options)),
            false => Ok(()),
        };
        let index = self.copy_index().map_err(|_| ()).and_then(|mut index| {
            let back = (self.repository)
                .diff_tree_to_tree(Some(&self.after), Some(&self.before), None)
                .map_err(|_| ())?;
            self.write_index(&mut index, &back).map_err(|_| ())
        });
        if files.is_err() || index.is_err() {
            tracing::error!("a pull failed halfway: `git reset --hard` in the checkout repairs it");
        }
    }
}

fn local_changes(files: &[String]) -> FastForwardError {
    let mut named = files
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if files.len() > NAMED {
        named += &format!(" and {} more", files.len() - NAMED);
    }
    FastForwardError::LocalChanges { files: named }
}

/// Describes a file as the index does (gitformat-index(5)), which keeps 32 bits of each number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the index keeps 32 bits"
)]
fn entry(file: &DiffFile<'_>, path: &Path) -> IndexEntry {
    let metadata = fs::symlink_metadata(path).ok();
    let metadata = metadata.filter(|it| !it.is_dir());
    let number = |of: fn(&fs::Metadata) -> u64| metadata.as_ref().map_or(0, of) as u32;
    IndexEntry {
        ctime: IndexTime::new(
            number(|it| it.ctime() as u64) as i32,
            number(|it| it.ctime_nsec() as u64),
        ),
        mtime: IndexTime::new(
            number(|it| it.mtime() as u64) as i32,
            number(|it| it.mtime_nsec() as u64),
        ),
        dev: number(|it| it.dev()),
        ino: number(|it| it.ino()),
        mode: u32::from(file.mode()),
        uid: number(|it| u64::from(it.uid())),
        gid: number(|it| u64::from(it.gid())),
        file_size: number(|it| it.size()),
        id: file.id(),
        flags: 0,
        flags_extended: 0,
        path: file.path_bytes().unwrap_or_default().to_owned(),
    }
}

/// Git's lock on a checkout, released on drop.
struct Lock(PathBuf);

impl Lock {
    fn take(git_dir: &Path) -> Result<Self, FastForwardError> {
        let path = git_dir.join("index.lock");
        let made: io::Result<File> = OpenOptions::new().write(true).create_new(true).open(&path);
        match made {
            Ok(_) => Ok(Self(path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(FastForwardError::Locked { path })
            }
            Err(source) => Err(FastForwardError::Io { path, source }),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use git2::{RepositoryInitOptions, Signature};

    use super::*;

    fn commit(repository: &Repository, reference: &str, parents: &[Oid]) -> Oid {
        let tree = repository.treebuilder(None).unwrap().write().unwrap();
        let tree = repository.find_tree(tree).unwrap();
        let parents: Vec<_> = (parents.iter())
            .map(|id| repository.find_commit(*id).unwrap())
            .collect();
        let parents: Vec<_> = parents.iter().collect();
        let author = Signature::now("A", "a@example.org").unwrap();
        (repository.commit(Some(reference), &author, &author, "x", &tree, &parents)).unwrap()
    }

    fn repository() -> (tempfile::TempDir, Repository) {
        let directory = tempfile::tempdir().unwrap();
        let mut options = RepositoryInitOptions::new();
        options.initial_head("main");
        let repository = Repository::init_opts(directory.path(), &options).unwrap();
        (directory, repository)
    }

    #[test]
    fn a_move_that_another_pull_ends_first_is_not_undone() {
        let (directory, repository) = repository();
        let file = directory.path().join("mapping.yaml");
        let [old, tip] = ["old", "new"].map(|text| {
            fs::write(&file, text).unwrap();
            let mut index = repository.index().unwrap();
            index.add_path(Path::new("mapping.yaml")).unwrap();
            index.write().unwrap();
            let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
            let parent = repository
                .head()
                .ok()
                .map(|head| head.peel_to_commit().unwrap());
            let author = Signature::now("A", "a@example.org").unwrap();
            let parents: Vec<_> = parent.iter().collect();
            (repository.commit(Some("HEAD"), &author, &author, text, &tree, &parents)).unwrap()
        });
        // As it is found while the other pull has not moved the branch yet.
        let tree = |commit| repository.find_commit(commit).unwrap().tree().unwrap();
        let step = CheckoutStep {
            repository: &repository,
            branch: "refs/heads/main",
            old,
            tip,
            before: tree(old),
            after: tree(tip),
        };
        step.take().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        let status = repository.status_file(Path::new("mapping.yaml")).unwrap();
        assert_eq!(status, Status::CURRENT);
    }

    #[test]
    fn a_branch_that_is_no_longer_checked_out_is_left_alone() {
        let (_directory, repository) = repository();
        let first = commit(&repository, "HEAD", &[]);
        let tip = commit(&repository, "refs/remotes/origin/main", &[first]);
        repository
            .reference("refs/heads/other", first, false, "")
            .unwrap();
        repository.set_head("refs/heads/other").unwrap();

        let refused = fast_forward(&repository, "refs/heads/main", tip);
        assert!(matches!(refused, Err(FastForwardError::Switched { .. })));
        assert_eq!(repository.refname_to_id("refs/heads/main").unwrap(), first);
        assert!(!repository.path().join("index.lock").exists());

        repository.set_head("refs/heads/main").unwrap();
        assert!(fast_forward(&repository, "refs/heads/main", tip).unwrap());
        assert_eq!(repository.refname_to_id("refs/heads/main").unwrap(), tip);
    }
}
