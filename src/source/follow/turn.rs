//! A turn at the followed remote: fetches wait meanwhile, and a commit pushed in it can be followed
//! immediately.
//!
//! Without it, a fetch that began before a push could end after it, and bring back the previous
//! commit.

use std::io::Write as _;

use git2::Repository;
use tokio::sync::MutexGuard;

use super::current_clone::CurrentClone;
use super::follower::Follower;
use super::remote_error::RemoteError;
use crate::git::{CommitId, Tip};

/// A turn, which ends when this is dropped.
pub struct Turn<'f> {
    core: &'f CurrentClone,
    _held: MutexGuard<'f, ()>,
}

impl Follower {
    /// Waits until no fetch is under way, and prevents others from beginning. Blocks the thread,
    /// for as long as a fetch may take.
    pub fn turn(&self) -> Turn<'_> {
        let core = self.core();
        Turn {
            core,
            _held: core.turn.blocking_lock(),
        }
    }

    /// Returns the followed commit, if there is one yet.
    pub fn commit(&self) -> Option<CommitId> {
        self.core().served().commit()
    }
}

impl Turn<'_> {
    /// Follows a commit at which the remote's branch of that name was seen, and which is in another
    /// clone of it: as if it had been fetched, by the same rules. Blocks the thread.
    ///
    /// # Errors
    ///
    /// If it may not be served, or cannot be copied and recorded.
    pub fn follow(
        &self,
        other: &Repository,
        branch: &str,
        commit: CommitId,
    ) -> Result<(), RemoteError> {
        let clone = self.core.usable_clone().ok_or(RemoteError::NoClone)?;
        let copied = self.copy(&clone, other, commit);
        let path = || self.core.state.clone_path(&clone);
        copied.map_err(|source| RemoteError::Clone {
            path: path(),
            source,
        })?;
        let tip = Tip {
            commit,
            name: Some(branch.to_owned()),
        };
        self.core.adopt(&clone, &tip).map(|_| ())
    }

    /// Copies the missing objects of a commit to a clone, as a fetch does: in one pack.
    fn copy(&self, clone: &str, other: &Repository, commit: CommitId) -> Result<(), git2::Error> {
        let mut missing = other.revwalk()?;
        missing.push(commit.0)?;
        if let Some(served) = self.core.served().commit()
            && other.find_commit(served.0).is_ok()
        {
            missing.hide(served.0)?;
        }
        let mut pack = other.packbuilder()?;
        // There is little to pack.
        pack.set_threads(1);
        pack.insert_walk(&mut missing)?;
        let repository = Repository::open(self.core.state.clone_path(clone))?;
        let odb = repository.odb()?;
        let mut writer = odb.packwriter()?;
        pack.foreach(|bytes| writer.write_all(bytes).is_ok())?;
        writer.commit()?;
        Ok(())
    }
}
