//! A writable branch of a remote, through a bare clone of our own.
//!
//! Invariants: unpushed commits are lost with the clone, and a push moves the branch from the
//! fetched commit or not at all. Each fetch and each push has a timeout.

use std::cell::Cell;
use std::io;

use git2::Repository;
use tokio::runtime::Builder;

use super::program::{GitProgram, GitProgramError};
use crate::git::commit_id::CommitId;
use crate::git::secrets::CredentialsError;
use crate::git::secrets::Secrets;
use crate::git::setting::Setting;
use crate::git::transport::CloneTarget;
use crate::git::transport::Credentials;
use crate::git::transport::Pushed;
use crate::git::transport::Wanted;
use crate::git::transport::{FetchOrder, PushOrder, Task, Tip};
use crate::git::transport::{RemoteUrl, Transport};
use crate::git::transport::{StateDir, StateError};
use crate::git::transport::{Transfer, TransferError};

/// The maximum number of uses of a clone, to fetch or to push: each makes it grow, and libgit2
/// never merges packs.
const MAX_USES: u32 = 256;

/// Why a remote's branch cannot be written to. No message holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteBranchError {
    /// The remote could not be reached, or there is nothing to fetch.
    #[error("{remote}")]
    Transfer {
        /// The remote's address, without secrets.
        remote: String,
        /// The reason.
        #[source]
        source: TransferError,
    },
    /// The fetched reference is not a branch.
    #[error("{name} of {remote} is no branch: name a branch")]
    NotABranch {
        /// The name.
        name: String,
        /// The remote's address, without secrets.
        remote: String,
    },
    /// The credentials cannot be read.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// No clone can be created.
    #[error(transparent)]
    State(#[from] StateError),
    /// The `git` program failed.
    #[error(transparent)]
    Program(#[from] GitProgramError),
    /// The clone cannot be used.
    #[error("cannot use the clone of {remote}")]
    Clone {
        /// The remote's address, without secrets.
        remote: String,
        /// The error from Git.
        #[source]
        source: git2::Error,
    },
    /// The system lacks the resources for a thread's runtime.
    #[error("cannot start a transfer")]
    Io(#[from] io::Error),
}

impl RemoteBranchError {
    /// Returns the setting that may have to be changed.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Self::Transfer { source, .. } => source.setting(),
            Self::NotABranch { .. } => Some(Setting::Reference),
            Self::Program(error) => error.setting(),
            _ => None,
        }
    }
}

/// A branch of a remote, with a clone in a temporary directory.
pub struct RemoteBranch {
    remote: RemoteUrl,
    wanted: Wanted,
    transfer: Transfer,
    credentials: Credentials,
    state: StateDir,
    clone: String,
    uses: Cell<u32>,
}

/// The position of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenBranch {
    /// The branch, in full.
    pub branch: String,
    /// The commit it was at.
    pub commit: CommitId,
}

impl RemoteBranch {
    /// Creates the directory of a clone; nothing is fetched yet.
    ///
    /// `None` is the branch to which the remote's `HEAD` leads.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn new(
        remote: RemoteUrl,
        branch: Option<&str>,
        transfer: Transfer,
        credentials: Credentials,
    ) -> Result<Self, RemoteBranchError> {
        Ok(Self {
            wanted: Wanted::of(branch),
            state: StateDir::private(&transfer.temp)?,
            clone: StateDir::new_clone(),
            uses: Cell::new(0),
            remote,
            transfer,
            credentials,
        })
    }

    /// Returns the remote's address.
    pub fn remote(&self) -> &RemoteUrl {
        &self.remote
    }

    /// Fetches the branch, and returns its position. Blocks the thread.
    ///
    /// # Errors
    ///
    /// If the remote cannot be fetched from, or the name is not that of a branch.
    pub fn fetch(&mut self) -> Result<SeenBranch, RemoteBranchError> {
        if self.is_worn() {
            self.start_afresh();
        }
        let wanted = self.wanted.clone();
        match self.fetch_wanted(wanted.clone()) {
            Err(RemoteBranchError::Transfer {
                source: TransferError::Failed { damage: true, .. },
                ..
            }) => {
                self.start_afresh();
                self.fetch_wanted(wanted)
            }
            ended => ended,
        }
    }

    /// Fetches another branch by its full name. Blocks the thread.
    ///
    /// # Errors
    ///
    /// If the remote cannot be fetched from, or has no such branch.
    pub fn fetch_branch(&mut self, name: &str) -> Result<SeenBranch, RemoteBranchError> {
        self.fetch_wanted(Wanted::Name(name.to_owned()))
    }

    /// Returns whether the clone has grown so much that the next fetch makes a fresh one. The
    /// caller should fetch then, even if the branch's position is known.
    pub fn is_worn(&self) -> bool {
        self.uses.get() >= MAX_USES
    }

    fn start_afresh(&mut self) {
        self.clone = StateDir::new_clone();
        self.state.sweep(None);
        self.uses.set(0);
    }

    fn fetch_wanted(&mut self, wanted: Wanted) -> Result<SeenBranch, RemoteBranchError> {
        let task = Task::Fetch(FetchOrder {
            target: CloneTarget::OwnClone,
            wanted,
            // Only the first time: later the commits pushed in between must be visible.
            shallow: self.uses.get() == 0 && *self.remote.transport() != Transport::Local,
        });
        self.uses.set(self.uses.get() + 1);
        let path = self.state.clone_path(&self.clone);
        let (transfer, credentials) = (&self.transfer, &self.credentials);
        let fetched = block_on(transfer.execute::<Tip>(&path, &self.remote, credentials, task))?
            .map_err(|source| self.failed(source))?;
        let name = fetched.name.unwrap_or_else(|| fetched.commit.to_string());
        if !name.starts_with("refs/heads/") {
            return Err(RemoteBranchError::NotABranch {
                name,
                remote: self.remote.to_string(),
            });
        }
        Ok(SeenBranch {
            branch: name,
            commit: fetched.commit,
        })
    }

    /// Opens the clone, which has the fetched commits, and from which commits are pushed.
    ///
    /// # Errors
    ///
    /// If nothing was fetched yet, or the clone is damaged.
    pub fn repository(&self) -> Result<Repository, RemoteBranchError> {
        Repository::open(self.state.clone_path(&self.clone)).map_err(|source| self.unusable(source))
    }

    /// Pushes a commit of the clone to a branch, by its full name, that is expected to be at
    /// another commit or not to exist. Blocks the thread.
    ///
    /// # Errors
    ///
    /// If nothing was sent to the remote. Any later failure is an answer.
    pub fn push(
        &self,
        commit: CommitId,
        branch: &str,
        expected: Option<CommitId>,
    ) -> Result<Pushed, RemoteBranchError> {
        self.uses.set(self.uses.get() + 1);
        let path = self.state.clone_path(&self.clone);
        if *self.remote.transport() == Transport::Local {
            let git = GitProgram::new(&path, self.transfer.timeout)?;
            return Ok(git.push(self.remote.expose(), commit, branch, expected)?);
        }
        let task = Task::Push(PushOrder {
            commit,
            expected,
            branch: branch.to_owned(),
        });
        let (transfer, credentials) = (&self.transfer, &self.credentials);
        let pushed = block_on(transfer.execute::<Pushed>(&path, &self.remote, credentials, task))?;
        match pushed {
            Ok(pushed) => {
                let login = self.credentials.read()?;
                let secrets = Secrets::new(login.secrets().chain(self.remote.secrets()));
                Ok(pushed.map_text(|text| secrets.readable(text)))
            }
            // It may have succeeded before it was stopped.
            Err(error @ (TransferError::TimedOut(_) | TransferError::Died { .. })) => {
                Ok(Pushed::Unclear {
                    reason: error.to_string(),
                })
            }
            Err(source) => Err(self.failed(source)),
        }
    }

    fn failed(&self, source: TransferError) -> RemoteBranchError {
        RemoteBranchError::Transfer {
            remote: self.remote.to_string(),
            source,
        }
    }

    fn unusable(&self, source: git2::Error) -> RemoteBranchError {
        RemoteBranchError::Clone {
            remote: self.remote.to_string(),
            source,
        }
    }
}

/// Runs a transfer here. Its runtime is dropped with it: one that is kept could not be dropped in
/// another.
fn block_on<T>(transfer: impl Future<Output = T>) -> io::Result<T> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(transfer))
}
