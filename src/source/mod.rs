//! The sources of table text: files, Git checkouts, remote repositories, and watching them.
//!
//! `follow` imports `files`, for the types of a reading.
//!
//! # Invariants
//!
//! - Nothing here knows what a table means, or who serves it.
//! - A read is never torn: nothing changed during it, or two passes agree, and it waits for files
//!   in the middle of a write, as far as `files/events/settling.rs` can detect them. A table is
//!   returned whole or not at all, and never with files of two states of a checkout (docs/decisions/0017).
//! - Events are hints about when to look. Polling alone is enough.
//! - A Git failure can cost a table its commit, never its service. Every call returns within
//!   bounded time.
//! - A commit is served once it is complete, verified and recorded, and until the next one is; an
//!   attempt to load one is recorded before it begins.
//! - A followed remote has one clone. Fetches and registrations take turns at writing to it, and
//!   only a fetch replaces it (docs/decisions/0021).

mod error;
mod files;
mod follow;
mod merge_setup;

pub use error::SourceError;
pub use files::{
    Earlier, FileSource, FileState, FilesError, Fingerprint, Inspection, Reading, Rests,
    StoredFile, Watch, Writers, create, create_with, has_content, replace, replace_with,
    was_written,
};
pub use files::{RepositoryPlace, Revision};
pub(crate) use files::{Threads, kept};
pub use follow::{
    CommitInfo, CommitTable, Fetch, FetchObserver, FetchOptions, FetchResult, Follower, Following,
    PullError, Puller, Pulling, RemoteError, RemoteStatus, Schedule, Turn,
};
pub use merge_setup::{MergeSetup, MergeSetupError};
