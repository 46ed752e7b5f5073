//! The job of a transfer process, and the result of a fetch, as sent through its pipes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use crate::git::commit_id::CommitId;
use crate::git::packs::RepackOrder;
use crate::git::transport::clone::CloneTarget;
use crate::git::transport::remote::{HostKeys, Login, Wanted};

/// The initial capacity for a job, more than nearly any needs: growing would move its secrets, and
/// leave a copy that is not wiped.
pub(crate) const JOB_BYTES: usize = 64 * 1024;

/// The job of one process.
#[derive(Serialize, Deserialize)]
pub(crate) struct Job {
    /// The directory of the repository.
    pub(crate) repository: PathBuf,
    /// The address, including any secret.
    pub(crate) remote: String,
    pub(crate) login: Login,
    pub(crate) host_keys: Option<HostKeys>,
    pub(crate) bounds: Bounds,
    pub(crate) task: Task,
}

impl Job {
    /// Returns the kind of its repository. Only a clone of our own is pushed from, or repacked.
    pub(crate) fn target(&self) -> CloneTarget {
        match &self.task {
            Task::Fetch(order) => order.target,
            Task::Push(_) | Task::Repack(_) => CloneTarget::OwnClone,
        }
    }
}

/// The task of a process.
#[derive(Serialize, Deserialize)]
pub(crate) enum Task {
    Fetch(FetchOrder),
    Push(PushOrder),
    Repack(RepackOrder),
}

/// The result of a fetch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tip {
    /// The reference's full name, unless a commit was requested.
    pub(crate) name: Option<String>,
    /// The commit: tags are peeled.
    pub(crate) commit: CommitId,
}

/// What to fetch into a repository, and how.
#[derive(Serialize, Deserialize)]
pub(crate) struct FetchOrder {
    pub(crate) target: CloneTarget,
    pub(crate) wanted: Wanted,
    pub(crate) depth: FetchDepth,
}

/// How much of the history of a commit is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FetchDepth {
    /// The commit alone, where that is possible.
    Commit,
    /// The commits before it, too.
    History,
}

/// What to push, and where.
#[derive(Serialize, Deserialize)]
pub(crate) struct PushOrder {
    /// The commit.
    pub(crate) commit: CommitId,
    /// The expected commit of the branch; `None` if it is not to exist.
    pub(crate) expected: Option<CommitId>,
    /// The branch, in full.
    pub(crate) branch: String,
}
