//! The sources of table text: files, Git checkouts, remote repositories, and watching them.
//!
//! Invariants: nothing here knows what a table means, or who serves it. A table is returned whole
//! or not at all: never half of a file that is being written (as far as `settling.rs` can detect),
//! nor files of two states of a checkout. Every call returns within bounded time.

mod error;
mod files;
mod follow;
mod merge_setup;

pub use error::SourceError;
pub use files::{
    FileSource, FilesError, Fingerprint, Inspection, Reading, Rests, Watch, Writers, create,
    replace,
};
pub use files::{RepositoryPlace, Revision};
pub use follow::{
    CommitInfo, Fetch, FetchOptions, FetchResult, Follower, Following, Observer, PullError, Puller,
    Pulling, RemoteError, RemoteStatus, Schedule, Turn, read_table,
};
pub use merge_setup::{MergeSetup, MergeSetupError};
