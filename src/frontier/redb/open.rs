//! Opening a file, and why that may fail.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use redb::{Builder, DatabaseError, StorageError};
use thiserror::Error;

use super::Redb;
use super::database::SharedDatabase;
use super::rows::{self, RowsError};
use super::writer::Writer;
use crate::frontier::contract::{Clock, SteadyClock};

/// The most memory for pages of the file; the schedule itself is in memory already, and the system
/// caches the file, too.
const CACHE: usize = 8 << 20;

/// Why a file could not be opened as a store; nothing in it was changed.
#[derive(Debug, Error)]
pub enum RedbError {
    /// A process has it open.
    #[error("{}: another process is using this file", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// It is not a file of this kind.
    #[error("{}: this is not a state file of the link checker", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// It was written by another version.
    #[error("{}: this file was written by another version of the program", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// Its contents cannot be read.
    #[error("{}: this file is damaged", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It cannot be opened, read or written.
    #[error("{}: this file cannot be opened", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl Redb {
    /// Opens a file, which is created if it does not exist, and ends the leases of the previous
    /// process with a full pause; `default_pause` is the minimum of such a pause.
    ///
    /// This blocks: it reads the whole file.
    ///
    /// # Errors
    ///
    /// If another process has it open, if it is foreign or damaged, or if it cannot be read or written.
    pub fn open(
        path: &Path,
        clock: impl Clock + 'static,
        default_pause: Duration,
    ) -> Result<Self, RedbError> {
        let database = builder().create(path);
        let database = database.map_err(|error| explained(path, error.into()))?;
        // A file that was removed meanwhile is not created again: it would lack the hosts.
        let database = SharedDatabase::new(database, {
            let path = path.to_owned();
            move || builder().open(&path)
        });
        let database = Arc::new(database);
        let (schedule, last) =
            rows::read(&database, default_pause).map_err(|error| explained(path, error))?;
        let clock = SteadyClock::continuing(Box::new(clock), last.time, last.ahead);
        let writer = Writer::start(Arc::clone(&database), default_pause, schedule, clock);
        let writer = writer.map_err(|error| explained(path, error))?;
        Ok(Self {
            writer,
            database,
            path: path.to_owned(),
        })
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE);
    // Reading a file that something else has altered may panic otherwise.
    builder.set_check_integrity_on_open(true);
    builder
}

impl From<DatabaseError> for RowsError {
    fn from(error: DatabaseError) -> Self {
        match error {
            // Neither its magic number nor an empty file.
            DatabaseError::Storage(StorageError::Io(error))
                if error.kind() == io::ErrorKind::InvalidData =>
            {
                Self::Foreign
            }
            DatabaseError::UpgradeRequired(format) => Self::Format(format.into()),
            error => Self::Storage(error.into()),
        }
    }
}

fn explained(path: &Path, error: RowsError) -> RedbError {
    let path = path.to_owned();
    match error {
        RowsError::Storage(redb::Error::DatabaseAlreadyOpen) => RedbError::InUse { path },
        RowsError::Storage(redb::Error::Io(source)) => RedbError::Unreadable { path, source },
        RowsError::Foreign => RedbError::Foreign { path },
        RowsError::Format(_) => RedbError::Format { path },
        error => RedbError::Damaged {
            path,
            source: error.into(),
        },
    }
}
