//! The state of one run: nothing is kept.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use super::state::{CheckState, Row, Space, StateChange};
use crate::frontier::{Clock, Lease, LeaseState, Memory, Pending, Store, StoreError};

/// For how long a lease is renewed before it is released.
const STILL: Duration = Duration::from_secs(1);

type Rows = BTreeMap<Space, BTreeMap<Vec<u8>, Vec<u8>>>;

/// A state in memory.
pub struct MemoryState {
    store: Memory,
    rows: Mutex<Rows>,
}

impl MemoryState {
    /// Returns a state that knows nothing; `delay` is the least that a host rests.
    pub fn new(clock: impl Clock + 'static, delay: Duration) -> Self {
        Self {
            store: Memory::new(clock, delay),
            rows: Mutex::default(),
        }
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().expect("nothing that is done here panics")
    }

    fn apply(&self, changes: Vec<StateChange>) {
        let mut rows = self.rows();
        for StateChange { space, key, value } in changes {
            let rows = rows.entry(space).or_default();
            match value {
                Some(value) => rows.insert(key, value),
                None => rows.remove(&key),
            };
        }
    }
}

impl CheckState for MemoryState {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let rows = self.rows();
        Ok(rows.get(&space).and_then(|rows| rows.get(key)).cloned())
    }

    fn first(&self, space: Space, from: &[u8], to: &[u8]) -> Result<Option<Row>, StoreError> {
        let rows = self.rows();
        let range = (Bound::Included(from), Bound::Excluded(to));
        let first = (rows.get(&space)).and_then(|rows| rows.range::<[u8], _>(range).next());
        Ok(first.map(|(key, value)| (key.clone(), value.clone())))
    }

    fn keys(&self, space: Space, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let rows = self.rows();
        let keys = rows.get(&space).into_iter().flat_map(BTreeMap::keys);
        keys.for_each(|key| each(key));
        Ok(())
    }

    fn write(&self, changes: Vec<StateChange>) -> Pending<'_, ()> {
        self.apply(changes);
        Box::pin(async { Ok(()) })
    }

    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
        changes: Vec<StateChange>,
    ) -> Pending<'a, LeaseState> {
        Box::pin(async move {
            // A renewal returns whether the lease is current; it remains so until it is released.
            let state = self.store.renew(lease, STILL).await?;
            if state == LeaseState::Current {
                self.apply(changes);
                self.store.release(lease, pause, next_in).await?;
            }
            Ok(state)
        })
    }
}
