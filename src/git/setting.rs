//! The settings that a user may have to change because of an error.
//!
//! An error names its setting in words. How a user changes it depends on the program: the command
//! line has a flag for each.

use serde::{Deserialize, Serialize};

/// A setting of access to Git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Setting {
    /// The branch, tag or commit.
    Reference,
    /// The path of the table in the repository.
    TablePath,
    /// The directory of the clone.
    StateDir,
    /// The timeout of a fetch or push that makes no progress.
    GitTimeout,
    /// The timeout of a fetch or push in total.
    GitTimeoutTotal,
    /// The maximum number of bytes of a fetch.
    MaxFetchBytes,
    /// The private key for SSH.
    SshKey,
    /// The file of trusted SSH host keys.
    KnownHosts,
    /// Whether a checkout is pulled.
    Pull,
}
