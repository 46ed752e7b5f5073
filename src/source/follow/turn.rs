//! A turn at the followed remote: fetches wait meanwhile, so that commits can be added to the clone
//! and pushed from it, and a pushed one can be followed immediately.
//!
//! Without it, a fetch that began before a push could end after it, and bring back the previous
//! commit, or replace the clone.

use tokio::sync::MutexGuard;

use super::current_clone::{CommitTable, CurrentClone};
use super::follower::Follower;
use super::following::Following;
use super::remote_error::RemoteError;
use crate::git::{RemoteBranch, SeenBranch, Tip};

/// A turn, which ends when this is dropped.
pub struct Turn<'f> {
    core: &'f CurrentClone,
    clone: String,
    branch: RemoteBranch,
    _held: MutexGuard<'f, ()>,
}

impl Follower {
    /// Waits until no fetch is under way, and prevents others from beginning. If the clone is not
    /// usable, a fresh one is fetched first. Blocks the thread, for as long as fetches may take.
    ///
    /// # Errors
    ///
    /// If there is no usable clone.
    pub fn turn(&self) -> Result<Turn<'_>, RemoteError> {
        let core = self.core();
        if core.usable_clone().is_none() {
            self.refresh();
        }
        let held = core.turn.blocking_lock();
        let clone = core.usable_clone().ok_or_else(|| self.nothing_yet())?;
        let Following {
            remote,
            reference,
            fetch,
            ..
        } = &core.options;
        Ok(Turn {
            branch: RemoteBranch::of_clone(
                core.state.clone_path(&clone),
                remote.clone(),
                reference.as_deref(),
                fetch.transfer.clone(),
                fetch.credentials.clone(),
            ),
            core,
            clone,
            _held: held,
        })
    }

    /// Records that the clone was found damaged: the next fetch creates a fresh one.
    pub fn distrust_clone(&self) {
        self.core().distrust();
    }
}

impl Turn<'_> {
    /// Returns the followed branch with the clone, for the duration of this turn.
    ///
    /// A commit that is added to the clone is served only once it is [followed](Self::follow).
    pub fn branch(&self) -> &RemoteBranch {
        &self.branch
    }

    /// Returns where the branch was last seen: its newest commit is in the clone.
    pub fn seen(&self) -> Option<SeenBranch> {
        let served = self.core.served();
        let record = served.record.as_ref()?;
        Some(SeenBranch {
            branch: record.seen_as.clone()?,
            commit: record.commit,
        })
    }

    /// Follows a commit of the clone at which the remote's branch was seen: as if it had just been
    /// fetched, by the same rules. A table that was compiled needs no record of an attempt to load it.
    ///
    /// # Errors
    ///
    /// If it may not be served, or cannot be recorded.
    pub fn follow(&self, seen: &SeenBranch, table: CommitTable) -> Result<(), RemoteError> {
        let tip = Tip {
            commit: seen.commit,
            name: Some(seen.branch.clone()),
        };
        self.core.adopt(&self.clone, &tip, table).map(|_| ())
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // A refused commit has left a pack, too.
        self.core.grown.notify_one();
    }
}
