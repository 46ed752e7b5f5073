//! The state of one run, which is not stored.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use tokio::sync::Mutex;

use super::rows::{CheckState, QueueRow, Space, StateRow, StateWrite, WriteState};
use crate::frontier::{Clock, Lease, LeaseState, Memory, Pending, Store, StoreError};

type Rows = BTreeMap<Space, BTreeMap<Vec<u8>, Vec<u8>>>;

/// A state in memory.
pub struct MemoryState {
    store: Memory,
    /// Locked while hosts are queued or released with rows, so that both are written at once.
    rows: Mutex<Rows>,
}

impl MemoryState {
    /// Returns an empty state; `delay` is the minimum pause of a host.
    pub fn new(clock: impl Clock + 'static, delay: Duration) -> Self {
        Self {
            store: Memory::new(clock, delay),
            rows: Mutex::default(),
        }
    }

    async fn apply(&self, rows: &mut Rows, write: &StateWrite) -> Result<(), StoreError> {
        for StateRow { space, key, value } in &write.rows {
            let rows = rows.entry(*space).or_default();
            match value {
                Some(value) => rows.insert(key.clone(), value.clone()),
                None => rows.remove(key),
            };
        }
        for (host, after) in &write.hosts {
            self.store.add_host(host, *after).await?;
        }
        Ok(())
    }
}

fn is_as_expected(rows: &Rows, write: &StateWrite) -> bool {
    write.expected.iter().all(|row| {
        let now = rows.get(&row.space).and_then(|rows| rows.get(&row.key));
        now == row.value.as_ref()
    })
}

impl CheckState for MemoryState {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn get<'a>(&'a self, space: Space, keys: &'a [Vec<u8>]) -> Pending<'a, Vec<Option<Vec<u8>>>> {
        Box::pin(async move {
            let rows = self.rows.lock().await;
            let rows = rows.get(&space);
            let value = |key| rows.and_then(|rows| rows.get(key)).cloned();
            Ok(keys.iter().map(value).collect())
        })
    }

    fn queued<'a>(
        &'a self,
        from: &'a [u8],
        to: &'a [u8],
        limit: usize,
    ) -> Pending<'a, Vec<QueueRow>> {
        Box::pin(async move {
            let rows = self.rows.lock().await;
            let range = (Bound::Included(from), Bound::Excluded(to));
            let rows = rows.get(&Space::Queue);
            let found = rows.into_iter().flat_map(|it| it.range::<[u8], _>(range));
            let found = found.take(limit);
            Ok(found
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect())
        })
    }

    fn queued_keys<'a>(&'a self, from: &'a [u8], limit: usize) -> Pending<'a, Vec<Vec<u8>>> {
        Box::pin(async move {
            let rows = self.rows.lock().await;
            let range = (Bound::Included(from), Bound::Unbounded);
            let rows = rows.get(&Space::Queue);
            let found = rows.into_iter().flat_map(|it| it.range::<[u8], _>(range));
            Ok(found.take(limit).map(|(key, _)| key.clone()).collect())
        })
    }

    fn write<'a>(&'a self, write: &'a StateWrite) -> Pending<'a, WriteState> {
        Box::pin(async move {
            let mut rows = self.rows.lock().await;
            if !is_as_expected(&rows, write) {
                return Ok(WriteState::Conflict);
            }
            self.apply(&mut rows, write).await?;
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
        Box::pin(async move {
            let mut rows = self.rows.lock().await;
            if !is_as_expected(&rows, write) {
                return Ok(WriteState::Conflict);
            }
            match self.store.release(lease, pause, next_in).await? {
                LeaseState::Current => self.apply(&mut rows, write).await?,
                LeaseState::Ended => return Ok(WriteState::Ended),
            }
            Ok(WriteState::Written)
        })
    }
}
