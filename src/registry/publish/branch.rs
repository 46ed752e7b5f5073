//! A change of a table, put on the tip of a remote's branch by compare-and-swap.
//!
//! The change is computed from the table as the tip has it, committed on that tip, and pushed in the
//! expectation that the branch is still there. If somebody was faster, all of it is done again on
//! the new tip. Invariants: nothing is ever computed from another table than the one it is put on;
//! a push whose answer was lost is looked for in the branch before anybody is told that it failed;
//! there is an end to it.

use std::thread;
use std::time::{Duration, Instant};

use git2::{Oid, Repository};

use super::backoff::pause;
use super::checkout::CheckoutError;
use super::commit::IdentityError;
use super::turn::Turn;
use crate::mapping::SourceFile;
use crate::source::{
    GitProgramError, Pushed, RemoteBranchError, RemoteUrl, TreeError, chance, read_table,
};

/// Files of a table, as they shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Each by its path in the repository, where it need not exist, with all that is in it.
    pub files: Vec<SourceFile>,
    /// The message of the commit.
    pub message: String,
}

/// Where a table stands in a repository.
#[derive(Debug, Clone)]
pub struct TablePath {
    /// A file, or a directory of files; the repository's top is nothing.
    path: String,
    /// The most bytes that the table may have.
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

    /// Returns the path, without what it could do without.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the most bytes that the table may have.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }
}

/// A change that the remote has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The commit.
    pub commit: Oid,
    /// What the remote said about it, on one line.
    pub said: String,
}

/// Why a change was not published. No message holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The remote, or the clone of it, is of no use.
    #[error(transparent)]
    Remote(#[from] RemoteBranchError),
    /// The checkout is not in a state in which it can be pushed from.
    #[error(transparent)]
    Checkout(#[from] CheckoutError),
    /// The `git` program did not do it.
    #[error(transparent)]
    Program(#[from] GitProgramError),
    /// The branch holds no table that can be read.
    #[error(transparent)]
    Table(#[from] TreeError),
    /// Nobody can be named as the author.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Git cannot make the commit.
    #[error("cannot make the commit")]
    Git(#[from] git2::Error),
    /// A hook of the checkout does not want it.
    #[error("the commit was refused: {said}")]
    Declined {
        /// Its words.
        said: String,
    },
    /// The remote does not want it.
    #[error("the remote refused the push: {reason}")]
    Refused {
        /// Its words.
        reason: String,
    },
    /// Others were faster each time.
    #[error("others were faster {losses} times within {patience:?}: try again when it is quieter")]
    TooBusy {
        /// How often the push was lost.
        losses: u32,
        /// How long it was tried.
        patience: Duration,
    },
    /// The connection ended before the remote said how it went.
    #[error(
        "the push ended early, and the commit {commit} is not on the remote now: {reason}; \
         do it again: what did get through will be found"
    )]
    Unclear {
        /// The commit.
        commit: Oid,
        /// What was seen of it.
        reason: String,
    },
}

/// A branch of a remote, as one who changes it sees it.
pub trait Branch {
    /// Returns the remote's address, if it can be told.
    fn address(&self) -> Option<RemoteUrl>;

    /// Fetches, and returns the commit at the tip, which [`Branch::repository`] holds then.
    ///
    /// # Errors
    ///
    /// If there is no such branch, or the remote cannot be fetched from.
    fn fetch(&mut self) -> Result<Oid, PublishError>;

    /// Opens the repository that is fetched into and pushed from.
    ///
    /// # Errors
    ///
    /// If it cannot be used.
    fn repository(&self) -> Result<Repository, PublishError>;

    /// Makes the commit of an edit on a tip. No reference leads to it.
    ///
    /// # Errors
    ///
    /// If the edit cannot be committed.
    fn commit(&self, edit: &Edit, tip: Oid) -> Result<Oid, PublishError>;

    /// Pushes a commit that was made on a tip.
    ///
    /// # Errors
    ///
    /// If nothing was sent to the remote.
    fn push(&self, commit: Oid, tip: Oid) -> Result<Pushed, PublishError>;

    /// Fetches, and returns where the branch is now that is pushed to.
    ///
    /// # Errors
    ///
    /// If there is no such branch, or the remote cannot be fetched from.
    fn look(&mut self) -> Result<Oid, PublishError> {
        self.fetch()
    }
}

/// Publishes the edit that `compute` makes of a table's files, again and again on newer tips for as
/// long as `patience` lasts. Blocks the thread.
///
/// What `compute` refuses is handed through; then nothing was changed.
///
/// # Errors
///
/// If it is not published.
pub fn publish<E>(
    branch: &mut impl Branch,
    table: &TablePath,
    patience: Duration,
    mut compute: impl FnMut(&[SourceFile]) -> Result<Edit, E>,
) -> Result<Result<Published, E>, PublishError> {
    let directory = branch.address().and_then(|it| it.directory());
    let _turn = directory.and_then(|it| Turn::take(&it, patience));
    let began = Instant::now();
    let mut losses = 0;
    let mut tip = branch.fetch()?;
    loop {
        let edit = match compute(&read(branch, tip, table)?) {
            Ok(edit) => edit,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let commit = branch.commit(&edit, tip)?;
        let refused = match branch.push(commit, tip)? {
            Pushed::Landed { said } => return Ok(Ok(Published { commit, said })),
            Pushed::Unclear { reason } => {
                return match holds(branch, commit) {
                    Ok(true) => Ok(Ok(Published {
                        commit,
                        said: String::new(),
                    })),
                    _ => Err(PublishError::Unclear { commit, reason }),
                };
            }
            Pushed::Lost => None,
            Pushed::Refused { reason } => Some(reason),
        };
        losses += 1;
        if began.elapsed() >= patience {
            return Err(PublishError::TooBusy { losses, patience });
        }
        if refused.is_none() {
            thread::sleep(pause(losses, chance()));
        }
        let now = branch.fetch()?;
        if let Some(reason) = refused
            // Hosts have many words for a branch that was moved. If it was, the race was lost.
            && now == tip
        {
            return Err(PublishError::Refused { reason });
        }
        tip = now;
    }
}

fn read(
    branch: &impl Branch,
    tip: Oid,
    table: &TablePath,
) -> Result<Vec<SourceFile>, PublishError> {
    let repository = branch.repository()?;
    let commit = repository.find_commit(tip)?;
    Ok(read_table(
        &repository,
        &commit,
        &table.path,
        table.max_bytes,
    )?)
}

/// Whether a commit is in the branch now.
fn holds(branch: &mut impl Branch, commit: Oid) -> Result<bool, PublishError> {
    let now = branch.look()?;
    let repository = branch.repository()?;
    Ok(now == commit || repository.graph_descendant_of(now, commit)?)
}
