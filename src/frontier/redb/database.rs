//! The database of a file, which is opened again after an I/O error: until then it refuses everything.

use std::sync::{PoisonError, RwLock};

use redb::{Database, DatabaseError, ReadTransaction, ReadableDatabase as _, WriteTransaction};

type Opener = Box<dyn Fn() -> Result<Database, DatabaseError> + Send + Sync>;

/// A database that can be closed and opened again while others use it.
pub(super) struct SharedDatabase {
    /// Missing if it could not be opened again.
    database: RwLock<Option<Database>>,
    open: Opener,
}

impl SharedDatabase {
    /// Returns a database that is open, and can be opened again with `open`.
    pub(super) fn new(
        database: Database,
        open: impl Fn() -> Result<Database, DatabaseError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            database: RwLock::new(Some(database)),
            open: Box::new(open),
        }
    }

    pub(super) fn begin_read(&self) -> Result<ReadTransaction, redb::Error> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().ok_or(redb::Error::DatabaseClosed)?;
        Ok(database.begin_read()?)
    }

    pub(super) fn begin_write(&self) -> Result<WriteTransaction, redb::Error> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().ok_or(redb::Error::DatabaseClosed)?;
        Ok(database.begin_write()?)
    }

    /// Closes the database and opens it again; transactions that read it meanwhile fail. No other may
    /// write.
    ///
    /// # Errors
    ///
    /// If it cannot be opened now; it stays closed then.
    pub(super) fn reopen(&self) -> Result<(), DatabaseError> {
        let mut database = (self.database.write()).unwrap_or_else(PoisonError::into_inner);
        // The file is locked until then.
        *database = None;
        *database = Some((self.open)()?);
        Ok(())
    }

    /// Returns the database, if it is open.
    pub(super) fn get_mut(&mut self) -> Option<&mut Database> {
        let database = self.database.get_mut();
        database.unwrap_or_else(PoisonError::into_inner).as_mut()
    }
}
