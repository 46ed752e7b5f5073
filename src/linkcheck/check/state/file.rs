//! The state in a file, next to the reservations: each answer and the end of its lease are one
//! write.

use std::path::Path;
use std::time::Duration;

use redb::{ReadableTable, TableDefinition, TableError};

use super::rows::{CheckState, QueueRow, Space, StateWrite, WriteState};
use crate::frontier::{
    Clock, Lease, LeaseState, Pending, Redb, RedbError, RedbTransaction, Store, StoreError,
};

type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

/// A state in a file, which one process at a time can use.
pub struct FileState {
    store: Redb,
}

impl FileState {
    /// Opens a file, which is created if it does not exist; `delay` is the minimum pause of a host.
    ///
    /// # Errors
    ///
    /// If another process has it open, if it is foreign or damaged, or if it cannot be read or written.
    pub fn open(
        path: &Path,
        clock: impl Clock + 'static,
        delay: Duration,
    ) -> Result<Self, RedbError> {
        let store = Redb::open(path, clock, delay)?;
        Ok(Self { store })
    }

    fn look<T>(
        &self,
        space: Space,
        look: impl FnOnce(
            redb::ReadOnlyTable<&'static [u8], &'static [u8]>,
        ) -> Result<T, redb::StorageError>,
    ) -> Result<Option<T>, StoreError> {
        self.look_now(space, look)
            .map_err(|error| StoreError::Failed(error.into()))
    }

    fn look_now<T>(
        &self,
        space: Space,
        look: impl FnOnce(
            redb::ReadOnlyTable<&'static [u8], &'static [u8]>,
        ) -> Result<T, redb::StorageError>,
    ) -> Result<Option<T>, redb::Error> {
        let transaction = self.store.begin_read()?;
        match transaction.open_table(table(space)) {
            Ok(table) => Ok(Some(look(table)?)),
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn table(space: Space) -> Definition {
    TableDefinition::new(space.table_name())
}

/// Writes rows and queues hosts.
fn apply(transaction: &mut RedbTransaction<'_>, write: &StateWrite) -> Result<(), redb::Error> {
    for space in Space::ALL {
        let mut rows = write.rows.iter().filter(|it| it.space == space).peekable();
        if rows.peek().is_none() {
            continue;
        }
        let mut table = transaction.tables()?.open_table(table(space))?;
        for row in rows {
            match &row.value {
                Some(value) => table.insert(&*row.key, &**value)?,
                None => table.remove(&*row.key)?,
            };
        }
    }
    for (host, after) in &write.hosts {
        transaction.add_host(host, *after);
    }
    Ok(())
}

fn is_as_expected(
    transaction: &mut RedbTransaction<'_>,
    write: &StateWrite,
) -> Result<bool, redb::Error> {
    for space in Space::ALL {
        let mut rows = (write.expected.iter())
            .filter(|it| it.space == space)
            .peekable();
        if rows.peek().is_none() {
            continue;
        }
        let table = transaction.tables()?.open_table(table(space))?;
        for row in rows {
            let now = table.get(&*row.key)?;
            if now.as_ref().map(|value| value.value()) != row.value.as_deref() {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

impl CheckState for FileState {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn get<'a>(&'a self, space: Space, keys: &'a [Vec<u8>]) -> Pending<'a, Vec<Option<Vec<u8>>>> {
        Box::pin(async move {
            let values = self.look(space, |table| {
                let value = |key: &Vec<u8>| {
                    let value = table.get(&**key)?;
                    Ok(value.map(|value| value.value().to_vec()))
                };
                keys.iter().map(value).collect()
            })?;
            Ok(values.unwrap_or_else(|| vec![None; keys.len()]))
        })
    }

    fn queued<'a>(
        &'a self,
        from: &'a [u8],
        to: &'a [u8],
        limit: usize,
    ) -> Pending<'a, Vec<QueueRow>> {
        Box::pin(async move {
            let rows = self.look(Space::Queue, |table| {
                let rows = table.range(from..to)?.take(limit).map(|row| {
                    let (key, value) = row?;
                    Ok((key.value().to_vec(), value.value().to_vec()))
                });
                rows.collect()
            })?;
            Ok(rows.unwrap_or_default())
        })
    }

    fn queued_keys<'a>(&'a self, from: &'a [u8], limit: usize) -> Pending<'a, Vec<Vec<u8>>> {
        Box::pin(async move {
            let keys = self.look(Space::Queue, |table| {
                let rows = table.range(from..)?.take(limit);
                rows.map(|row| Ok(row?.0.value().to_vec())).collect()
            })?;
            Ok(keys.unwrap_or_default())
        })
    }

    fn write<'a>(&'a self, write: &'a StateWrite) -> Pending<'a, WriteState> {
        let write = write.clone();
        self.store.write(move |transaction| {
            if !is_as_expected(transaction, &write)? {
                return Ok(WriteState::Conflict);
            }
            apply(transaction, &write)?;
            Ok(WriteState::Written)
        })
    }

    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
        write: &'a StateWrite,
    ) -> Pending<'a, WriteState> {
        let (lease, write) = (lease.clone(), write.clone());
        self.store.write(move |transaction| {
            if !is_as_expected(transaction, &write)? {
                return Ok(WriteState::Conflict);
            }
            if transaction.release(&lease, pause, next_in) == LeaseState::Ended {
                return Ok(WriteState::Ended);
            }
            apply(transaction, &write)?;
            Ok(WriteState::Written)
        })
    }
}
