//! The state on a server that many workers share, next to the reservations: each answer and the end
//! of its lease are one script.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::rows::{CheckState, QueueRow, Space, StateRow, StateWrite, WriteState};
use crate::frontier::{
    Clock, Lease, Pending, Store, StoreError, Valkey, ValkeyRow, ValkeyTable, ValkeyWrite,
    ValkeyWritten,
};

/// A state on a server, for any number of workers.
pub struct ValkeyState {
    store: Valkey,
    clock: Arc<ServerClock>,
}

/// The clock of a server, as of its last answer: all workers have the same time, even if the clocks
/// of their machines are wrong.
struct ServerClock(Mutex<(Duration, Instant)>);

impl ServerClock {
    fn set(&self, time: Duration) {
        *self.0.lock().expect("nothing that is done here panics") = (time, Instant::now());
    }
}

impl Clock for ServerClock {
    fn now(&self) -> Duration {
        let (time, at) = *self.0.lock().expect("nothing that is done here panics");
        time + at.elapsed()
    }
}

impl ValkeyState {
    /// Returns the state on a server.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, or fails.
    pub async fn new(store: Valkey) -> Result<Self, StoreError> {
        let time = store.time().await?;
        let clock = Arc::new(ServerClock(Mutex::new((time, Instant::now()))));
        Ok(Self { store, clock })
    }

    /// Returns the clock of the server, for the checker.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as Arc<dyn Clock>
    }

    async fn done(&self, write: &ValkeyWrite<'_>) -> Result<WriteState, StoreError> {
        let (written, time) = self.store.write(write).await?;
        self.clock.set(time);
        Ok(match written {
            ValkeyWritten::Written => WriteState::Written,
            ValkeyWritten::Conflict => WriteState::Conflict,
            ValkeyWritten::Ended => WriteState::Ended,
        })
    }
}

fn table(space: Space) -> ValkeyTable {
    ValkeyTable {
        name: space.table_name(),
        is_ordered: space == Space::Queue,
    }
}

fn row(row: &StateRow) -> ValkeyRow<'_> {
    ValkeyRow {
        table: table(row.space),
        key: &row.key,
        value: row.value.as_deref(),
    }
}

fn valkey_write(write: &StateWrite) -> ValkeyWrite<'_> {
    ValkeyWrite {
        expected: write.expected.iter().map(row).collect(),
        release: None,
        rows: write.rows.iter().map(row).collect(),
        hosts: &write.hosts,
    }
}

impl CheckState for ValkeyState {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn get<'a>(&'a self, space: Space, keys: &'a [Vec<u8>]) -> Pending<'a, Vec<Option<Vec<u8>>>> {
        Box::pin(self.store.get_rows(table(space), keys))
    }

    fn queued<'a>(
        &'a self,
        from: &'a [u8],
        to: &'a [u8],
        limit: usize,
    ) -> Pending<'a, Vec<QueueRow>> {
        Box::pin(async move {
            let first = (self.store).first_rows(table(Space::Queue), from, Some(to), limit);
            let (time, rows) = first.await?;
            self.clock.set(time);
            Ok(rows)
        })
    }

    fn queued_keys<'a>(&'a self, from: &'a [u8], limit: usize) -> Pending<'a, Vec<Vec<u8>>> {
        Box::pin(async move {
            let first = (self.store).first_keys(table(Space::Queue), from, limit);
            let (time, keys) = first.await?;
            self.clock.set(time);
            Ok(keys)
        })
    }

    fn write<'a>(&'a self, write: &'a StateWrite) -> Pending<'a, WriteState> {
        Box::pin(async move { self.done(&valkey_write(write)).await })
    }

    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
        write: &'a StateWrite,
    ) -> Pending<'a, WriteState> {
        let release = Some((lease, pause, next_in));
        Box::pin(async move {
            let write = ValkeyWrite {
                release,
                ..valkey_write(write)
            };
            self.done(&write).await
        })
    }
}
