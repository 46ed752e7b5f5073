//! Following a remote repository: a clone of our own, and tables read from its commits.
//!
//! Invariants: a commit is served only after it was fetched completely, verified and recorded; it
//! is served until another one is, regardless of the remote, the network or the disk. Nothing
//! writes into a clone in use except, each in its own turn, a process that fetches, one that
//! commits, and the housekeeping when it replaces packs with a merged one.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::Notify;
use tracing::warn;

use super::current_clone::CurrentClone;
use super::fetches::Fetches;
use super::following::Following;
use super::housekeeping::Housekeeping;
use super::remote_error::RemoteError;
use super::report::RemoteStatus;
use super::rounds::Rounds;
use crate::git::{StateError, Transport, has_git_program};
use crate::mapping::TableFile;
use crate::source::files::Revision;
use crate::source::files::{Earlier, Fingerprint, Reading, RepositoryPlace};

/// Follows a remote until it is dropped.
pub struct Follower {
    core: Arc<CurrentClone>,
    rounds: Rounds,
    _housekeeping: Housekeeping,
}

impl Follower {
    /// Opens the state and starts to fetch, immediately and then as scheduled.
    ///
    /// Must be called within a Tokio runtime.
    ///
    /// # Errors
    ///
    /// If the state directory cannot be used. An unreachable remote is no error here.
    pub fn start(following: Following) -> Result<Self, StateError> {
        let core = Arc::new(CurrentClone::open(following)?);
        let remote = &core.options.remote;
        if *remote.transport() == Transport::Local && !has_git_program() {
            warn!(%remote, "there is no git program: a path is fetched with its whole history");
        }
        let rounds = Rounds::start(
            Arc::new(Fetches(Arc::clone(&core))),
            core.options.remote.to_string(),
            core.options.fetch.schedule,
            Arc::clone(&core.options.fetch.observer),
        );
        Ok(Self {
            _housekeeping: Housekeeping::start(Arc::clone(&core)),
            core,
            rounds,
        })
    }

    pub(crate) fn core(&self) -> &CurrentClone {
        &self.core
    }

    /// Returns what is followed, and how.
    pub fn following(&self) -> &Following {
        &self.core.options
    }

    /// Returns the remote's address, without secrets, with the followed reference.
    pub fn describe(&self) -> String {
        let Following {
            remote,
            reference,
            path,
            ..
        } = self.following();
        match reference {
            Some(reference) => format!("{remote} {reference}:{path}"),
            None => format!("{remote} {path}"),
        }
    }

    /// Returns the notifier for a new commit.
    pub fn hints(&self) -> Arc<Notify> {
        Arc::clone(&self.core.hints)
    }

    /// Requests a fetch without waiting for it. Repeated requests do not make fetches overlap.
    pub fn fetch_now(&self) {
        self.rounds.request();
    }

    /// Waits for a fetch that begins after this call, and at most one before. Blocks the thread.
    pub fn refresh(&self) {
        self.rounds.wait_for_next();
    }

    /// Reads the table of the last good commit.
    ///
    /// Waits for the first fetch if there is no commit yet, or for a fresh clone if this one is
    /// found to be damaged: for as long as fetches may take. Blocks the thread.
    ///
    /// # Errors
    ///
    /// If there is no commit yet, or it has no readable table.
    pub fn read(&self) -> Result<Reading, RemoteError> {
        let reading = self.read_changes(Earlier::default())?;
        Ok(reading.into_whole())
    }

    /// Reads the table as [`read`](Self::read) does, except for parts that are already known.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    pub fn read_changes(&self, earlier: Earlier<'_>) -> Result<Reading<TableFile>, RemoteError> {
        if self.core.served().record.is_none() {
            self.rounds.wait_for_first();
        }
        let read = match self.core.read(earlier) {
            // It was reported before; the next fetch creates a fresh clone.
            Err(error) if error.is_damage() && !self.core.damaged.swap(true, Ordering::SeqCst) => {
                self.rounds.wait_for_next();
                self.core.read(earlier)
            }
            // Nothing can be served, but the branch may have moved on.
            Err(RemoteError::Waiting { .. }) if !self.core.has_good() => {
                self.rounds.wait_for_first();
                self.core.read(earlier)
            }
            other => other,
        };
        match read {
            Ok(Some(reading)) => Ok(reading),
            Ok(None) => Err(self.nothing_yet()),
            Err(error) => Err(error),
        }
    }

    /// Returns why there is no table yet, given the last fetch.
    pub(crate) fn nothing_yet(&self) -> RemoteError {
        let last = self.rounds.progress().last;
        let setting = last.as_ref().and_then(|fetch| fetch.setting);
        let reason = last.and_then(|fetch| fetch.error);
        RemoteError::NothingYet {
            remote: self.core.options.remote.to_string(),
            reason: reason.unwrap_or_else(|| "nothing was fetched".to_owned()),
            setting,
        }
    }

    /// Returns whether there may be another table than the one with this fingerprint. Cheap.
    pub fn may_differ_from(&self, known: &Fingerprint) -> bool {
        let served = self.core.served();
        !served
            .commit()
            .is_some_and(|commit| known.is_commit(commit))
    }

    /// Records that the table of a revision is good, so that a restart can fall back on it.
    pub fn accepted(&self, revision: &Revision) {
        if let Some(commit) = revision.commit() {
            self.core.accepted(commit);
        }
    }

    /// Records that the last [reading](Self::read) is loaded, or will not be: until then it is
    /// recorded as an attempt, which counts against the commit if the process does not survive it.
    pub fn end_attempt(&self) {
        self.core.end_attempt();
    }

    /// Records that the process exits cleanly, so that a load that it interrupts does not count
    /// against its commit.
    pub fn close(&self) {
        self.core.close();
    }

    /// Returns whether the newest commit may have ended an earlier process, and was not loaded
    /// since.
    pub fn is_in_doubt(&self) -> bool {
        self.core.is_in_doubt()
    }

    /// Serves the last commit that was [accepted](Self::accepted), until there is a newer one than
    /// the commit that follows it now. Returns whether there is such a commit.
    pub fn fall_back(&self) -> bool {
        self.core.fall_back()
    }

    /// Returns to the newest commit after falling back, if it only had to wait for the last good
    /// one. Returns whether it does.
    pub fn retry(&self) -> bool {
        self.core.retry()
    }

    /// Makes the next reading load the newest commit, regardless of earlier attempts, because an
    /// operator requests it.
    pub fn prefer_newest(&self) {
        self.core.prefer_newest();
    }

    /// Locates the table in its repository. Reads the clone.
    pub fn place(&self) -> RepositoryPlace {
        self.core.place()
    }

    /// Returns the current status.
    pub fn status(&self) -> RemoteStatus {
        let progress = self.rounds.progress();
        let served = self.core.served();
        RemoteStatus {
            remote: self.core.options.remote.to_string(),
            reference: self.core.options.reference.clone(),
            seen_as: served.record.as_ref().and_then(|it| it.seen_as.clone()),
            served: self.core.describe_commit(&served),
            tip: progress.tip,
            last_fetch: progress.last,
            last_success: progress.last_success,
        }
    }
}
