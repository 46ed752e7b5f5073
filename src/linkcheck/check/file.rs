//! The state in a file, beside the reservations: each answer and the end of its lease are one write.

use std::path::Path;
use std::time::Duration;

use redb::{ReadableDatabase, ReadableTable, TableDefinition, TableError, WriteTransaction};

use super::state::{CheckState, Row, Space, StateChange};
use crate::frontier::{Clock, Lease, LeaseState, Pending, Redb, RedbError, Store, StoreError};

type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

/// A state in a file, which one process at a time can use.
pub struct FileState {
    store: Redb,
}

impl FileState {
    /// Opens a file, which is created if it does not exist; `delay` is the least that a host rests.
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
    ) -> Result<Option<T>, redb::Error> {
        let transaction = self.store.database().begin_read()?;
        match transaction.open_table(table(space)) {
            Ok(table) => Ok(Some(look(table)?)),
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn table(space: Space) -> Definition {
    TableDefinition::new(match space {
        Space::Links => "linkcheck-links",
        Space::Parked => "linkcheck-parked",
        Space::Queue => "linkcheck-queue",
        Space::Hosts => "linkcheck-hosts",
        Space::Origins => "linkcheck-origins",
        Space::Siblings => "linkcheck-siblings",
        Space::Endings => "linkcheck-endings",
        Space::Settings => "linkcheck-settings",
    })
}

fn apply(transaction: &WriteTransaction, changes: &[StateChange]) -> Result<(), redb::Error> {
    for space in Space::ALL {
        let mut changes = changes.iter().filter(|it| it.space == space).peekable();
        if changes.peek().is_none() {
            continue;
        }
        let mut table = transaction.open_table(table(space))?;
        for change in changes {
            match &change.value {
                Some(value) => table.insert(&*change.key, &**value)?,
                None => table.remove(&*change.key)?,
            };
        }
    }
    Ok(())
}

fn failed(error: redb::Error) -> StoreError {
    StoreError::Failed(error.into())
}

impl CheckState for FileState {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let value = self.look(space, |table| {
            Ok(table.get(key)?.map(|value| value.value().to_vec()))
        });
        Ok(value.map_err(failed)?.flatten())
    }

    fn first(&self, space: Space, from: &[u8], to: &[u8]) -> Result<Option<Row>, StoreError> {
        let row = self.look(space, |table| {
            let row = table.range(from..to)?.next().transpose()?;
            Ok(row.map(|(key, value)| (key.value().to_vec(), value.value().to_vec())))
        });
        Ok(row.map_err(failed)?.flatten())
    }

    fn keys(&self, space: Space, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let all = self.look(space, |table| {
            for row in table.iter()? {
                each(row?.0.value());
            }
            Ok(())
        });
        all.map(|_| ()).map_err(failed)
    }

    fn write(&self, changes: Vec<StateChange>) -> Pending<'_, ()> {
        (self.store).write(move |transaction| apply(transaction.tables()?, &changes))
    }

    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
        changes: Vec<StateChange>,
    ) -> Pending<'a, LeaseState> {
        let lease = lease.clone();
        self.store.write(move |transaction| {
            let state = transaction.release(&lease, pause, next_in);
            if state == LeaseState::Current {
                apply(transaction.tables()?, &changes)?;
            }
            Ok(state)
        })
    }
}
