//! What to follow, and how.

use std::path::PathBuf;

use super::fetch_options::FetchOptions;
use crate::git::RemoteUrl;

/// The remote to follow, and how.
#[derive(Clone)]
pub struct Following {
    /// The repository.
    pub remote: RemoteUrl,
    /// A branch, a tag or a full commit id; `None` is the remote's `HEAD`.
    pub reference: Option<String>,
    /// The table in it: a file, or a directory of files.
    pub path: String,
    /// The location of the clone; `None` is a temporary directory that is removed at the end.
    pub state_dir: Option<PathBuf>,
    /// The maximum size of the table in bytes.
    pub max_bytes: u64,
    /// The memory available for loading it, as far as known. With another amount, a commit that was
    /// too large for it is tried again.
    pub memory: Option<u64>,
    /// How to fetch.
    pub fetch: FetchOptions,
}
