//! A writable branch of a remote, through a bare clone of our own.
//!
//! Invariants: unpushed commits are lost with the clone, and a push moves the branch from the
//! expected commit or not at all. Each fetch and each push has a timeout.

use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use git2::Repository;
use serde::de::DeserializeOwned;
use tokio::runtime::Builder;

use super::plain_repository::PlainRepository;
use super::program::GitProgram;
use super::receive_pack::{MIN_PACKED, ReceivePack, ReceivedAs};
use super::remote_branch_error::RemoteBranchError;
use super::unpushed_commit::{UnpushedCommit, UnpushedObjects, UnpushedPack};
use super::update_ref::UpdateRef;
use crate::git::commit_id::CommitId;
use crate::git::objects::{MAX_WHOLE, NewCommit};
use crate::git::transport::{
    CloneTarget, Credentials, FetchDepth, FetchOrder, PushOrder, Pushed, RemoteUrl, StateDir, Task,
    Tip, Transfer, TransferError, Transport, Wanted,
};
use crate::git::wire::BranchMove;

/// A branch of a remote, and a clone of our own to fetch it into and push it from.
pub struct RemoteBranch {
    remote: RemoteUrl,
    wanted: Wanted,
    transfer: Transfer,
    credentials: Credentials,
    clone: PathBuf,
    /// The clone, if it was opened since the last fetch.
    opened: RefCell<Option<Arc<Mutex<Repository>>>>,
    /// The process of the next push, if it was started already.
    started: RefCell<Option<StartedPush>>,
    /// The directory of the clone, if that is removed when this is dropped.
    _temporary: Option<StateDir>,
}

/// The position of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenBranch {
    /// The branch, in full.
    pub branch: String,
    /// The commit it was at.
    pub commit: CommitId,
}

/// A process that waits for a push to a repository on this machine.
enum StartedPush {
    /// It moves a branch of a plain repository.
    UpdateRef(Box<UpdateRef>),
    /// It receives a pack.
    ReceivePack(Box<ReceivePack>),
}

impl RemoteBranch {
    /// Creates the temporary directory of a clone; nothing is fetched yet.
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
        let temporary = StateDir::private(&transfer.temp)?;
        let clone = temporary.clone_path(&StateDir::new_clone());
        Ok(Self {
            _temporary: Some(temporary),
            ..Self::of_clone(clone, remote, branch, transfer, credentials)
        })
    }

    /// Uses a clone that others may read, but must not write to while this is used.
    pub(crate) fn of_clone(
        clone: PathBuf,
        remote: RemoteUrl,
        branch: Option<&str>,
        transfer: Transfer,
        credentials: Credentials,
    ) -> Self {
        Self {
            remote,
            wanted: Wanted::of(branch),
            transfer,
            credentials,
            clone,
            opened: RefCell::default(),
            started: RefCell::default(),
            _temporary: None,
        }
    }

    /// Returns the remote's address.
    pub fn remote(&self) -> &RemoteUrl {
        &self.remote
    }

    /// Fetches the branch, and returns its position. Blocks the thread.
    ///
    /// Its history need not be in the clone.
    ///
    /// # Errors
    ///
    /// If the remote cannot be fetched from, or the name is not that of a branch.
    pub fn fetch(&self) -> Result<SeenBranch, RemoteBranchError> {
        self.fetch_wanted(self.wanted.clone(), FetchDepth::Commit)
    }

    /// Fetches the branch, or another one by its full name, with the commits since those that the
    /// clone has. Blocks the thread.
    ///
    /// # Errors
    ///
    /// If the remote cannot be fetched from, or has no such branch.
    pub fn fetch_history(&self, name: Option<&str>) -> Result<SeenBranch, RemoteBranchError> {
        let named = name.map(|name| Wanted::Name(name.to_owned()));
        let wanted = named.unwrap_or_else(|| self.wanted.clone());
        self.fetch_wanted(wanted, FetchDepth::History)
    }

    fn fetch_wanted(
        &self,
        wanted: Wanted,
        depth: FetchDepth,
    ) -> Result<SeenBranch, RemoteBranchError> {
        self.opened.take();
        let fetched: Tip = self.execute(Task::Fetch(FetchOrder {
            target: CloneTarget::OwnClone,
            wanted,
            depth,
        }))?;
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

    /// Returns the clone, which has the fetched commits, and from which commits are pushed; it is opened
    /// once until the next fetch. No push may begin while the caller holds its lock.
    ///
    /// # Errors
    ///
    /// If nothing was fetched yet, or the clone is damaged.
    pub fn repository(&self) -> Result<Arc<Mutex<Repository>>, RemoteBranchError> {
        if let Some(opened) = &*self.opened.borrow() {
            return Ok(Arc::clone(opened));
        }
        let opened = Repository::open(&self.clone);
        let opened = opened.map_err(|source| RemoteBranchError::Clone {
            remote: self.remote.to_string(),
            source,
        })?;
        let opened = Arc::new(Mutex::new(opened));
        self.opened.replace(Some(Arc::clone(&opened)));
        Ok(opened)
    }

    /// Writes a commit to the clone, unless it is pushed as a pack in which each object is whole: that is
    /// compressed, and written, while it is pushed. All objects get into the clone in one step, as one pack.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub(crate) fn prepare(&self, commit: NewCommit) -> Result<UnpushedCommit, RemoteBranchError> {
        let id = commit.id();
        let commit = match self.keeps_packs() {
            true => commit.into_whole_pack(MIN_PACKED),
            false => Err(commit),
        };
        let prepared = match commit {
            Ok(pack) => Ok(UnpushedObjects::Sent(UnpushedPack::Whole(pack))),
            Err(commit) => commit.store(&self.clone).and_then(|stored| {
                let is_local = *self.remote.transport() == Transport::Local;
                Ok(match &*self.started.borrow() {
                    Some(StartedPush::UpdateRef(_)) => UnpushedObjects::Copied(stored),
                    _ if is_local => UnpushedObjects::Sent(UnpushedPack::Thin(commit.thin_pack()?)),
                    _ => UnpushedObjects::Unknown,
                })
            }),
        };
        let objects = prepared.map_err(|source| self.not_stored(source))?;
        Ok(UnpushedCommit { id, objects })
    }

    fn not_stored(&self, source: io::Error) -> RemoteBranchError {
        RemoteBranchError::Store {
            remote: self.remote.to_string(),
            source,
        }
    }

    /// Starts the process of the next push, if that is to a repository on this machine, where objects are
    /// stored as `wanted` unless it is configured how. If the branch moves from now on, that push is lost.
    pub(crate) fn prepare_push(&self, wanted: ReceivedAs) {
        let start = |directory: PathBuf| match PlainRepository::open(&directory) {
            Some(plain) => {
                let started = UpdateRef::start(&plain, self.transfer.timeout);
                started.map(|started| StartedPush::UpdateRef(Box::new(started)))
            }
            None => {
                let started = ReceivePack::start(self.program().ok()?, &directory, wanted);
                started
                    .ok()
                    .map(|started| StartedPush::ReceivePack(Box::new(started)))
            }
        };
        // Without it, the push starts another one, and reports the reason if that fails, too.
        let started = self.directory().and_then(start);
        self.started.replace(started);
    }

    /// Returns whether the next push is kept as one pack if it has enough objects.
    fn keeps_packs(&self) -> bool {
        match &*self.started.borrow() {
            Some(StartedPush::ReceivePack(process)) => process.stores() == ReceivedAs::Pack,
            _ => false,
        }
    }

    /// Returns whether a commit of so many files, of so many bytes together, is pushed as a pack in which
    /// each is whole, so that their differences from those before need not be known.
    pub(crate) fn sends_whole(&self, files: usize, bytes: usize) -> bool {
        // The trees are smaller than the files.
        self.keeps_packs() && files >= MIN_PACKED && bytes <= MAX_WHOLE / 2
    }

    /// Returns the directory of the remote, if that is on this machine and Git's configuration has no other
    /// address for it.
    fn directory(&self) -> Option<PathBuf> {
        let is_local = *self.remote.transport() == Transport::Local;
        let directory = self.remote.directory().filter(|_| is_local)?;
        (!self.is_rewritten()).then_some(directory)
    }

    fn program(&self) -> io::Result<GitProgram> {
        GitProgram::new(&self.clone, self.transfer.timeout)
    }

    /// Pushes a commit to a branch, by its full name, that is expected to be at another commit or not to
    /// exist. Blocks the thread.
    ///
    /// # Errors
    ///
    /// If nothing was sent to the remote, or not all of the commit because the clone cannot be written
    /// to. Any later failure is an answer.
    pub fn push(
        &self,
        UnpushedCommit { id, objects }: &UnpushedCommit,
        branch: &str,
        expected: Option<CommitId>,
    ) -> Result<Pushed, RemoteBranchError> {
        let commit = *id;
        if *self.remote.transport() == Transport::Local {
            let update = BranchMove {
                branch,
                from: expected.map(|id| id.0),
                to: commit.0,
            };
            let pushed = match (objects, self.started.take()) {
                (UnpushedObjects::Copied(pack), Some(StartedPush::UpdateRef(process))) => {
                    process.move_branch(&update, pack)
                }
                (UnpushedObjects::Sent(pack), started) => self.send(started, &update, pack)?,
                _ => None,
            };
            if let Some(pushed) = pushed {
                return Ok(pushed);
            }
            let remote = self.remote.expose();
            return Ok(self.program()?.push(remote, commit, branch, expected)?);
        }
        let task = Task::Push(PushOrder {
            commit,
            expected,
            branch: branch.to_owned(),
        });
        match self.execute(task) {
            // It may have succeeded before it was stopped.
            Err(RemoteBranchError::Transfer {
                source: error @ (TransferError::TimedOut(_) | TransferError::Died { .. }),
                ..
            }) => Ok(Pushed::Unclear {
                reason: error.to_string(),
            }),
            ended => ended,
        }
    }

    /// Sends a pack to a repository on this machine. Returns `None` if nothing was changed, and a `git push`
    /// of what the clone then has is needed.
    fn send(
        &self,
        started: Option<StartedPush>,
        update: &BranchMove<'_>,
        pack: &UnpushedPack,
    ) -> Result<Option<Pushed>, RemoteBranchError> {
        if let Some(StartedPush::ReceivePack(process)) = started {
            let sent = self.send_to(*process, update, pack);
            if let Ok(_) | Err(RemoteBranchError::Store { .. }) = sent {
                return sent.map(Some);
            }
        }
        // Nothing was changed: the process may have met a change of the repository since it was started.
        if let Some(directory) = self.directory() {
            let started = ReceivePack::start(self.program()?, &directory, ReceivedAs::Configured);
            return self.send_to(started?, update, pack).map(Some);
        }
        if let UnpushedPack::Whole(pack) = pack {
            let stored = pack.send(&self.clone, |_| ());
            stored.map_err(|source| self.not_stored(source))?;
        }
        Ok(None)
    }

    fn send_to(
        &self,
        process: ReceivePack,
        update: &BranchMove<'_>,
        pack: &UnpushedPack,
    ) -> Result<Pushed, RemoteBranchError> {
        let (mut stored, clone) = (Ok(()), &self.clone);
        let pushed = process.update_branch(update, |send| match pack {
            UnpushedPack::Thin(bytes) => send(bytes),
            UnpushedPack::Whole(pack) => stored = pack.send(clone, send),
        });
        stored.map_err(|source| self.not_stored(source))?;
        Ok(pushed?)
    }

    /// Returns whether Git's configuration has another address for the remote
    /// (`url.….insteadOf`).
    fn is_rewritten(&self) -> bool {
        let address = self.remote.expose();
        let Ok(repository) = self.repository() else {
            return false;
        };
        let repository = repository.lock().unwrap_or_else(PoisonError::into_inner);
        let urls = repository.remote_anonymous(address).and_then(|remote| {
            Ok([
                remote.url()?.to_owned(),
                remote.pushurl()?.unwrap_or(address).to_owned(),
            ])
        });
        urls.is_ok_and(|urls| urls.iter().any(|url| url != address))
    }

    /// Runs a task in a process. Its runtime is dropped here: one that is kept could not be dropped
    /// in another.
    fn execute<T: DeserializeOwned>(&self, task: Task) -> Result<T, RemoteBranchError> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (transfer, credentials) = (&self.transfer, &self.credentials);
        let ended = transfer.execute(&self.clone, &self.remote, credentials, task);
        (runtime.block_on(ended)).map_err(|source| RemoteBranchError::Transfer {
            remote: self.remote.to_string(),
            source,
        })
    }
}
