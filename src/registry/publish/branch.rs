//! Puts a change of a table on the tip of a remote's branch by compare-and-swap.
//!
//! The change is computed from the table at the tip, committed on that tip, and pushed on condition
//! that the branch is still there. If another writer was faster, everything is repeated on the new
//! tip. Invariants: a change is computed only from the table to which it is applied; a push whose
//! answer was lost is looked up in the branch before it is reported as failed; the number of
//! attempts is bounded.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use git2::Repository;

use super::backoff::pause;
use super::edit::Edit;
use super::publish_error::PublishError;
use super::writer_lock::WriterLock;
use crate::git::{CommitId, Pushed, RemoteUrl, random};
use crate::mapping::{Cut, SourceFile};
use crate::registry::text::{BlobCuts, TextFile};

/// How many pushes in a row may be lost although the branch does not move: another writer may hold its
/// lock, and fail; but the lock may also be left over, or the remote may report another commit
/// than the one that it lets us fetch.
const MAX_STUCK: u32 = 12;

/// The location of a table in a repository.
#[derive(Debug, Clone)]
pub struct TablePath {
    /// A file, or a directory of files; empty for the repository's top.
    path: String,
    /// The maximum size of the table, in bytes.
    max_bytes: u64,
}

impl TablePath {
    /// Names a table by its path from the repository's top.
    pub fn new(path: &str, max_bytes: u64) -> Self {
        let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
        Self {
            path: parts.collect::<Vec<_>>().join("/"),
            max_bytes,
        }
    }

    /// Returns the path, without redundant parts.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the maximum size of the table, in bytes.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }
}

/// A change that the remote has accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The commit.
    pub commit: CommitId,
    /// The remote's message about it, on one line.
    pub said: String,
}

/// The tip of a branch.
#[derive(Debug)]
pub struct BranchTip {
    /// The commit.
    pub commit: CommitId,
    /// The files of its table.
    pub files: Vec<TextFile>,
}

impl BranchTip {
    /// Returns the content of a file of the table.
    pub(crate) fn file(&self, path: &str) -> Option<SourceFile> {
        self.files.iter().find(|file| *file.path == *path)?.whole()
    }
}

/// A branch of a remote, for its writer.
pub trait Branch {
    /// Returns the remote's address, if known.
    fn address(&self) -> Option<RemoteUrl>;

    /// Fetches, and returns the commit at the tip, which [`Branch::repository`] then contains.
    ///
    /// # Errors
    ///
    /// If there is no such branch, or the remote cannot be fetched from.
    fn fetch(&mut self) -> Result<CommitId, PublishError>;

    /// Opens the repository that is fetched into and pushed from, unless it is open.
    ///
    /// # Errors
    ///
    /// If it cannot be used.
    fn repository(&self) -> Result<Arc<Mutex<Repository>>, PublishError>;

    /// Prepares the next push, which is about to be computed, if that can be done at the same time.
    fn prepare_push(&self) {}

    /// Commits an edit on a tip. No reference leads to the commit.
    ///
    /// # Errors
    ///
    /// If the edit cannot be committed.
    fn commit(&self, edit: &Edit, tip: &BranchTip) -> Result<CommitId, PublishError>;

    /// Pushes a commit that was made on a tip.
    ///
    /// # Errors
    ///
    /// If nothing was sent to the remote, or the branch is for review and exists.
    fn push(&self, commit: CommitId, tip: CommitId) -> Result<Pushed, PublishError>;

    /// Fetches, and returns the current tip of the branch that is pushed to: with the commits since
    /// the last fetch.
    ///
    /// # Errors
    ///
    /// If there is no such branch, or the remote cannot be fetched from.
    fn look(&mut self) -> Result<CommitId, PublishError>;
}

/// Publishes the edit that `compute` makes of the table at a branch's tip, retrying on newer tips
/// for as long as `timeout` lasts. Blocks the thread.
///
/// # Errors
///
/// If the edit is not published. An error of `compute` is passed on; then nothing was changed.
pub fn publish<E: From<PublishError>>(
    branch: &mut impl Branch,
    table: &TablePath,
    timeout: Duration,
    compute: impl FnMut(&BranchTip) -> Result<Edit, E>,
) -> Result<Published, E> {
    publish_known(branch, table, timeout, &mut BlobCuts::default(), compute)
}

/// Publishes an edit as [`publish`] does, given what is known of the files from before.
///
/// # Errors
///
/// As those of [`publish`].
pub(crate) fn publish_known<E: From<PublishError>>(
    branch: &mut impl Branch,
    table: &TablePath,
    timeout: Duration,
    cuts: &mut BlobCuts,
    mut compute: impl FnMut(&BranchTip) -> Result<Edit, E>,
) -> Result<Published, E> {
    let directory = branch.address().and_then(|it| it.directory());
    let _lock = directory.and_then(|it| WriterLock::take(&it, timeout));
    let began = Instant::now();
    let mut losses = 0;
    let mut stuck = 0;
    let mut tip = branch.fetch()?;
    loop {
        branch.prepare_push();
        let read = read(branch, tip, table, cuts)?;
        let edit = compute(&read)?;
        let commit = branch.commit(&edit, &read)?;
        let changed = cuts_of(&edit);
        drop((read, edit));
        let pushed = branch.push(commit, tip)?;
        let is_refused = matches!(pushed, Pushed::Refused { .. });
        let reason = match pushed {
            Pushed::Landed { said } => {
                // It is published, whether or not the clone can be opened again.
                if let Ok(repository) = branch.repository() {
                    let repository = repository.lock().unwrap_or_else(PoisonError::into_inner);
                    cuts.learn(&repository, commit, changed);
                }
                return Ok(Published { commit, said });
            }
            Pushed::Unclear { reason } => {
                return match holds(branch, commit) {
                    Ok(true) => Ok(Published {
                        commit,
                        said: String::new(),
                    }),
                    _ => Err(PublishError::Unclear { commit, reason }.into()),
                };
            }
            Pushed::Lost { reason } | Pushed::Locked { reason } | Pushed::Refused { reason } => {
                reason
            }
        };
        losses += 1;
        stuck += 1;
        if began.elapsed() >= timeout {
            return Err(PublishError::TooBusy { losses, timeout }.into());
        }
        if !is_refused {
            thread::sleep(pause(losses, random()));
        }
        let now = branch.fetch()?;
        // If the branch was moved, the race was lost, whatever the remote says.
        if now != tip {
            stuck = 0;
        } else if is_refused || stuck >= MAX_STUCK {
            return Err(PublishError::Refused { reason }.into());
        }
        tip = now;
    }
}

/// Returns the paths of the files of an edit, and where they were cut.
fn cuts_of(edit: &Edit) -> Vec<(Arc<str>, Arc<Cut>)> {
    let files = edit.files.iter();
    let cuts = files.map(|file| (Arc::clone(&file.path), Arc::clone(file.cut())));
    cuts.collect()
}

fn read(
    branch: &impl Branch,
    tip: CommitId,
    table: &TablePath,
    cuts: &mut BlobCuts,
) -> Result<BranchTip, PublishError> {
    let files = cuts.read(branch.repository()?, tip, &table.path, table.max_bytes)?;
    Ok(BranchTip { commit: tip, files })
}

/// Returns whether the branch now contains a commit.
fn holds(branch: &mut impl Branch, commit: CommitId) -> Result<bool, PublishError> {
    let now = branch.look()?;
    let repository = branch.repository()?;
    let repository = repository.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(now == commit || repository.graph_descendant_of(now.0, commit.0)?)
}
