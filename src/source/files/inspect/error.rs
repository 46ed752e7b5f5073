//! Why a table could not be read from files.
//!
//! Errors *in* a table are diagnostics and belong to `mapping`; these are failures to read its
//! text. Git failures in a checkout are not here: they cost the table its commit, but it is served.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::{masked, symlinks};

/// Why the text of a table could not be read from its files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilesError {
    /// There is nothing at the path.
    #[error(
        "no table at {}: name a YAML file or a directory of YAML files",
        masked(&path.to_string_lossy())
    )]
    NotFound {
        /// The path as it was given.
        path: PathBuf,
    },

    /// The path is, or goes through, a symbolic link to nothing.
    #[error("{} is a dangling symbolic link: {} does not exist", path.display(), target.display())]
    DanglingLink {
        /// The path as it was given.
        path: PathBuf,
        /// The target of the link.
        target: PathBuf,
    },

    /// The path is a pipe, socket or device, or a directory where a file is required.
    #[error("{} is not a regular file but a {kind}: copy the table into a file", path.display())]
    NotRegular {
        /// The path as it was given.
        path: PathBuf,
        /// What it is, such as `named pipe`.
        kind: &'static str,
    },

    /// This user may not read it.
    #[error("no permission to read {}: give this user read access to it and to its directories", path.display())]
    Unreadable {
        /// The path as it was given.
        path: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },

    /// A directory holds no file that could be part of a table.
    #[error("no *.yaml or *.yml file in {}: add one, or name a file", path.display())]
    NoYaml {
        /// The directory as it was given.
        path: PathBuf,
    },

    /// All files together are larger than allowed.
    #[error("the table is larger than {max} bytes at {}: it has {size}", path.display())]
    TooLarge {
        /// The file that exceeded the limit.
        path: PathBuf,
        /// The number of bytes, as far as known.
        size: u64,
        /// The limit in bytes.
        max: u64,
    },

    /// The files kept changing while they were watched.
    #[error("{} is still being written: to replace a file, write a new one and rename it over the old one", path.display())]
    StillBeingWritten {
        /// One of the files.
        path: PathBuf,
    },

    /// A file changed, and may be in the middle of a write.
    #[error("{} may be in the middle of a write", path.display())]
    Unsettled {
        /// The file.
        path: PathBuf,
        /// How long to wait before looking again, if nothing happens earlier.
        again: Duration,
    },

    /// Any other error of the system.
    #[error("cannot read {}", path.display())]
    Io {
        /// The path as it was given.
        path: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
}

impl FilesError {
    /// Returns the meaning of a system error about a path.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => match symlinks::follow(&path)
            {
                Ok(trail) if trail.missing && !trail.links.is_empty() => Self::DanglingLink {
                    path,
                    target: trail.end,
                },
                _ => Self::NotFound { path },
            },
            io::ErrorKind::PermissionDenied => Self::Unreadable { path, source },
            _ => Self::Io { path, source },
        }
    }

    /// Returns the error for a table of `size` bytes, of which `max` are allowed.
    pub(crate) fn too_large(path: &Path, size: u64, max: u64) -> Self {
        Self::TooLarge {
            path: path.to_owned(),
            size,
            max,
        }
    }

    /// Returns whether the table is larger than allowed.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::TooLarge { .. })
    }

    /// Returns whether something is missing that may be about to appear.
    ///
    /// Git and many editors delete a file before they write it again.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(
            self,
            Self::NotFound { .. } | Self::DanglingLink { .. } | Self::NoYaml { .. }
        )
    }
}
