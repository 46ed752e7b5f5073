//! Reports of fetches: for logs, metrics and the status.
//!
//! Invariant: no text here contains a secret.

use std::time::Duration;

use crate::git::{CommitId, Setting};
use crate::mapping::Timestamp;

/// The result of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchResult {
    /// There is another commit than before.
    Updated,
    /// The remote has the same commit as before.
    Unchanged,
    /// The remote could not be reached, or its content cannot be used.
    Failed,
    /// The fetch timed out.
    TimedOut,
    /// The remote's commit is not trusted.
    Refused,
}

impl FetchResult {
    /// Every result.
    pub const ALL: [Self; 5] = [
        Self::Updated,
        Self::Unchanged,
        Self::Failed,
        Self::TimedOut,
        Self::Refused,
    ];

    /// Returns the word that metrics and the status use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Refused => "refused",
        }
    }

    /// Returns whether the remote was reached and its commit accepted.
    pub fn is_success(self) -> bool {
        matches!(self, Self::Updated | Self::Unchanged)
    }
}

/// One fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// When it ended.
    pub at: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// How it ended.
    pub result: FetchResult,
    /// The commit of the remote, if it was seen.
    pub tip: Option<CommitId>,
    /// The error, with its causes, on one line.
    pub error: Option<String>,
    /// The setting that may have to be changed because of the error.
    pub setting: Option<Setting>,
}

/// A commit and its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    /// Its id.
    pub id: CommitId,
    /// The author's time.
    pub authored: Timestamp,
    /// The committer's time.
    pub committed: Timestamp,
}

/// The status of following a remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteStatus {
    /// The remote's address, without secrets.
    pub remote: String,
    /// The requested branch, tag or commit; `None` is the remote's `HEAD`.
    pub reference: Option<String>,
    /// The name under which the remote's commit was last seen, such as `refs/heads/main`.
    pub seen_as: Option<String>,
    /// The commit whose table is served, if there is one yet.
    pub served: Option<CommitInfo>,
    /// The last fetch, if one has ended.
    pub last_fetch: Option<Fetch>,
    /// The time of the last successful fetch in this process.
    pub last_success: Option<Timestamp>,
    /// The last tip seen at the remote, served or not.
    pub tip: Option<CommitId>,
}
