//! Why a table could not be read, from files or from a remote.

use std::time::Duration;

use super::files::FilesError;
use super::follow::RemoteError;
use crate::git::{Setting, TreeError};

/// Why the text of a table could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// There is no complete table in the files.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// There is no table from the remote.
    #[error(transparent)]
    Remote(#[from] RemoteError),
}

impl SourceError {
    /// Returns whether the table is larger than allowed.
    pub fn is_too_large(&self) -> bool {
        match self {
            Self::Files(error) => error.is_too_large(),
            Self::Remote(error) => {
                matches!(error, RemoteError::Table(TreeError::TooLarge { .. }))
            }
        }
    }

    /// Returns the setting of access to Git that may have to be changed.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Self::Files(_) => None,
            Self::Remote(error) => error.setting(),
        }
    }

    /// Returns how long to wait before the next look, if a file may still be being written.
    pub fn unsettled(&self) -> Option<Duration> {
        match self {
            Self::Files(FilesError::Unsettled { again, .. }) => Some(*again),
            _ => None,
        }
    }
}
