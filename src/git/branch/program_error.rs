//! Errors of the `git` program.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::git::setting::Setting;

/// The limit for reading Git's answers, none of which is longer.
pub(super) const MAX_ANSWER: u64 = 1 << 20;

/// Why the `git` program failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitProgramError {
    /// It is not installed.
    #[error(
        "there is no git program, which pushing to a path and commits in a checkout need: install Git"
    )]
    Missing,
    /// It cannot be run.
    #[error("cannot run git in {}", directory.display())]
    Process {
        /// The directory.
        directory: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
    /// It timed out.
    #[error("git {command} took longer than {timeout:?}: raise the setting \"git timeout\"")]
    TimedOut {
        /// The task.
        command: String,
        /// The timeout.
        timeout: Duration,
    },
    /// Its output is too long.
    #[error("git {command} printed more than {MAX_ANSWER} bytes")]
    TooMuch {
        /// The task.
        command: String,
    },
    /// It failed.
    #[error("git {command} failed: {said}")]
    Failed {
        /// The task.
        command: String,
        /// Its message.
        said: String,
        /// Its exit status, unless a signal ended it.
        status: Option<i32>,
    },
}

impl GitProgramError {
    /// Returns the setting that may have to be changed.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Self::TimedOut { .. } => Some(Setting::GitTimeout),
            _ => None,
        }
    }
}
