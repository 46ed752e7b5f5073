//! The current clone of a remote, and the commit served from it.
//!
//! A commit is served once it is complete, verified and recorded, in this order. Each reading opens
//! the repository again, so that its caches and open packs are released.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use git2::{Commit, ErrorCode, ObjectType, Repository};
use tokio::sync::{Mutex, Notify};

use super::attempt::{Attempts, LoadConditions, LoadVerdict};
use super::committed_table::read_changes;
use super::following::Following;
use super::remote_error::RemoteError;
use super::report::{CommitInfo, FetchResult};
use crate::git::{CloneRecord, CommitId, StateDir, StateError, Tip, TreeError};
use crate::mapping::{TableFile, Timestamp};
use crate::source::files::Revision;
use crate::source::files::content_hash;
use crate::source::files::{Earlier, Fingerprint, Reading, RepositoryPlace};

/// A remote's clone, and the commit served from it.
pub(crate) struct CurrentClone {
    pub(crate) options: Following,
    pub(crate) state: StateDir,
    attempts: Attempts,
    served: RwLock<Served>,
    /// Locked by each round of fetches, and by each push.
    pub(crate) turn: Mutex<()>,
    /// Whether the current clone was found damaged.
    pub(crate) damaged: AtomicBool,
    pub(crate) hints: Arc<Notify>,
    /// Notified when the clone may have become larger.
    pub(crate) grown: Notify,
}

/// The served commit.
#[derive(Debug, Default)]
pub(crate) struct Served {
    pub(crate) record: Option<CloneRecord>,
    /// Whether the last good commit is served instead of the newest.
    pub(crate) fallen_back: bool,
}

impl Served {
    pub(crate) fn commit(&self) -> Option<CommitId> {
        let record = self.record.as_ref()?;
        let good = record.good.filter(|_| self.fallen_back);
        Some(good.unwrap_or(record.commit))
    }
}

/// What is known of the table of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitTable {
    /// This process has compiled it.
    Compiled,
    /// Nothing yet.
    Unknown,
}

impl CurrentClone {
    pub(crate) fn open(options: Following) -> Result<Self, StateError> {
        let state = match &options.state_dir {
            Some(path) => StateDir::open(path)?,
            None => StateDir::private(&options.fetch.transfer.temp)?,
        };
        let conditions = LoadConditions::now(options.memory, options.max_bytes);
        let core = Self {
            attempts: Attempts::open(&state, conditions),
            options,
            state,
            served: RwLock::default(),
            turn: Mutex::default(),
            damaged: AtomicBool::new(false),
            hints: Arc::default(),
            grown: Notify::new(),
        };
        if let Some(record) = core.state.load().filter(|it| core.is_ours(it)) {
            core.resume(record)?;
        }
        Ok(core)
    }

    /// Returns whether a record describes the remote that is currently followed.
    fn is_ours(&self, record: &CloneRecord) -> bool {
        record.remote == self.options.remote.to_string()
            && record.reference == self.options.reference
    }

    /// Continues with the commit served before a restart, if it still exists and is trusted.
    fn resume(&self, mut record: CloneRecord) -> Result<(), StateError> {
        let path = self.state.clone_path(&record.clone);
        let opened = Repository::open(&path);
        if let Err(error) = &opened
            && error.code() == ErrorCode::Owner
        {
            return Err(StateError::foreign(&path));
        }
        let verified = opened.and_then(|repository| {
            let commit = repository.find_commit(record.commit.0)?;
            let good = record.good.take();
            record.good = good.filter(|good| self.is_trusted(&repository, *good));
            Ok(self
                .options
                .fetch
                .verifier
                .verify(&repository, commit.id().into()))
        });
        match verified {
            Ok(Ok(())) => {
                let mut served = self.served_mut();
                served.record = Some(record);
                self.grown.notify_one();
            }
            Ok(Err(refusal)) => {
                tracing::warn!(%refusal, commit = %record.commit, "the recorded commit is not trusted");
            }
            Err(error) => {
                tracing::warn!(%error, "the recorded clone is damaged, creating a new one");
            }
        }
        Ok(())
    }

    /// Returns whether the last good commit still exists and is approved.
    fn is_trusted(&self, repository: &Repository, commit: CommitId) -> bool {
        let found = repository.find_commit(commit.0);
        found.is_ok_and(|found| {
            let verified = self
                .options
                .fetch
                .verifier
                .verify(repository, found.id().into());
            if let Err(refusal) = &verified {
                tracing::warn!(%refusal, %commit, "the last good commit is not trusted");
            }
            verified.is_ok()
        })
    }

    pub(crate) fn served(&self) -> RwLockReadGuard<'_, Served> {
        self.served.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn served_mut(&self) -> RwLockWriteGuard<'_, Served> {
        self.served.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the repository, whose caches and open packs are released with it.
    pub(crate) fn repository(&self, clone: &str) -> Result<Repository, RemoteError> {
        let path = self.state.clone_path(clone);
        Repository::open(&path).map_err(|source| RemoteError::Clone { path, source })
    }

    /// Reads the table, except for parts that are already known. The clone cannot be removed
    /// meanwhile.
    ///
    /// The load stays on record until the attempt [ends](Self::end_attempt).
    pub(crate) fn read(
        &self,
        earlier: Earlier<'_>,
    ) -> Result<Option<Reading<TableFile>>, RemoteError> {
        let served = self.served();
        let (Some(record), Some(id)) = (&served.record, served.commit()) else {
            return Ok(None);
        };
        self.begin_attempt(record, id)?;
        let repository = self.repository(&record.clone)?;
        let commit = find_commit(&repository, id)?;
        let Following {
            path, max_bytes, ..
        } = &self.options;
        let table = read_changes(&repository, &commit, path, *max_bytes, earlier)?;
        let time = Timestamp::from_unix(commit.time().seconds());
        let hash = content_hash(&table.files);
        Ok(Some(Reading {
            files: table.files,
            revision: Revision::clean(id, time, hash),
            warnings: Vec::new(),
            fingerprint: Fingerprint::of_commit(id, table.cuts),
        }))
    }

    /// Locates the table in its repository, given also the files of the served commit, as far as its
    /// clone can be read.
    pub(crate) fn place(&self) -> RepositoryPlace {
        let served = self.served();
        let seen_as = served.record.as_ref().and_then(|it| it.seen_as.as_deref());
        let place = RepositoryPlace::of_commits(&self.options.path, seen_as);
        let repository = (served.record.as_ref()).and_then(|it| self.repository(&it.clone).ok());
        let commit = (repository.as_ref().zip(served.commit()))
            .and_then(|(repository, id)| repository.find_commit(id.0).ok());
        let tree = commit.and_then(|commit| commit.tree().ok());
        place.with_files(|path| {
            let entry = tree.as_ref().map(|tree| tree.get_path(Path::new(path)));
            entry.is_some_and(|it| it.is_ok_and(|it| it.kind() == Some(ObjectType::Blob)))
        })
    }

    /// Records that a commit is about to be loaded, unless it has to wait.
    ///
    /// The last good commit never waits: it was loaded before.
    fn begin_attempt(&self, record: &CloneRecord, commit: CommitId) -> Result<(), RemoteError> {
        if record.good == Some(commit) {
            return Ok(());
        }
        match self.attempts.verdict(commit, record.good) {
            LoadVerdict::Load => self.attempts.begin(&self.state, commit),
            LoadVerdict::GoodFirst => return Err(RemoteError::GoodFirst { commit }),
            LoadVerdict::Wait(unclean_ends) => {
                return Err(RemoteError::Waiting {
                    commit,
                    unclean_ends,
                    attempts: self.state.attempt_path(),
                });
            }
        }
        Ok(())
    }

    /// Records that the last reading is loaded, or will not be.
    pub(crate) fn end_attempt(&self) {
        self.attempts.end(&self.state);
    }

    /// Records that this process exits cleanly.
    pub(crate) fn close(&self) {
        self.attempts.close(&self.state);
    }

    /// Returns whether the newest commit may have ended an earlier process.
    pub(crate) fn is_in_doubt(&self) -> bool {
        let served = self.served();
        let record = served.record.as_ref();
        record.is_some_and(|it| self.attempts.is_in_doubt(it.commit))
    }

    /// Returns whether there is a last good commit.
    pub(crate) fn has_good(&self) -> bool {
        let served = self.served();
        served.record.as_ref().is_some_and(|it| it.good.is_some())
    }

    /// Serves the last good commit instead of the newest, if there is one.
    pub(crate) fn fall_back(&self) -> bool {
        let mut served = self.served_mut();
        let record = served.record.as_ref();
        let good = record.and_then(|it| it.good.filter(|good| *good != it.commit));
        served.fallen_back = good.is_some();
        served.fallen_back
    }

    /// Returns to the newest commit after falling back, if it only had to wait for the last good
    /// one. Returns whether it does.
    pub(crate) fn retry(&self) -> bool {
        let mut served = self.served_mut();
        let record = served.record.as_ref().filter(|_| served.fallen_back);
        let due = record
            .is_some_and(|it| self.attempts.verdict(it.commit, it.good) == LoadVerdict::GoodFirst);
        if due {
            self.attempts.allow();
            served.fallen_back = false;
            self.hints.notify_one();
        }
        due
    }

    /// Makes the next reading load the newest commit, regardless of earlier attempts.
    pub(crate) fn prefer_newest(&self) {
        self.attempts.allow();
        self.served_mut().fallen_back = false;
    }

    pub(crate) fn describe_commit(&self, served: &Served) -> Option<CommitInfo> {
        let repository = self.repository(&served.record.as_ref()?.clone).ok()?;
        let commit = repository.find_commit(served.commit()?.0).ok()?;
        Some(CommitInfo {
            id: commit.id().into(),
            authored: Timestamp::from_unix(commit.author().when().seconds()),
            committed: Timestamp::from_unix(commit.time().seconds()),
        })
    }

    pub(crate) fn accepted(&self, commit: CommitId) {
        let mut served = self.served_mut();
        if let Some(record) = &mut served.record
            && record.good != Some(commit)
        {
            record.good = Some(commit);
            if let Err(error) = self.state.store(record) {
                tracing::warn!(%error, "cannot record the last good commit");
            }
        }
    }

    /// Returns the name of the current clone, unless it is damaged.
    pub(crate) fn usable_clone(&self) -> Option<String> {
        let served = self.served();
        let clone = served.record.as_ref().map(|it| it.clone.clone());
        clone.filter(|_| !self.damaged.load(Ordering::SeqCst))
    }

    /// Records that the current clone was found damaged: the next fetch creates a fresh one.
    pub(crate) fn distrust(&self) {
        self.damaged.store(true, Ordering::SeqCst);
    }

    /// Serves the commit fetched into a clone, if it is a different one and may be served.
    pub(crate) fn adopt(
        &self,
        clone: &str,
        tip: &Tip,
        table: CommitTable,
    ) -> Result<FetchResult, RemoteError> {
        let repository = self.repository(clone)?;
        let commit = find_commit(&repository, tip.commit)?;
        let before = self.served().record.clone();
        let known = before.as_ref().is_some_and(|it| it.commit == tip.commit);
        if !known {
            (self
                .options
                .fetch
                .verifier
                .verify(&repository, commit.id().into()))
            .map_err(|refusal| RemoteError::Refused {
                commit: tip.commit,
                refusal,
            })?;
        }
        let good = match table {
            CommitTable::Compiled => Some(tip.commit),
            CommitTable::Unknown => before
                .as_ref()
                .and_then(|it| it.good)
                .filter(|good| repository.find_commit(good.0).is_ok()),
        };
        let record = CloneRecord {
            remote: self.options.remote.to_string(),
            reference: self.options.reference.clone(),
            clone: clone.to_owned(),
            seen_as: tip.name.clone(),
            commit: tip.commit,
            good,
        };
        drop(commit);
        drop(repository);

        let mut served = self.served_mut();
        if served.record.as_ref() != Some(&record) {
            self.state.store(&record)?;
            served.fallen_back &= known && record.good.is_some();
            served.record = Some(record);
            self.hints.notify_one();
            self.grown.notify_one();
        }
        drop(served);
        match known {
            true => Ok(FetchResult::Unchanged),
            false => Ok(FetchResult::Updated),
        }
    }

    /// Removes every clone but the current one.
    pub(crate) fn sweep(&self) {
        // Nothing reads it meanwhile.
        let served = self.served_mut();
        self.state
            .sweep(served.record.as_ref().map(|it| it.clone.as_str()));
    }
}

fn find_commit(repository: &Repository, id: CommitId) -> Result<Commit<'_>, RemoteError> {
    repository
        .find_commit(id.0)
        .map_err(|source| RemoteError::Table(TreeError::Damaged { commit: id, source }))
}
