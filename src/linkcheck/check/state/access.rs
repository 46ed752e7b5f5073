//! Access to the state of a check: while it cannot be reached, each operation is repeated until it
//! succeeds, or until the check must stop.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio::time::sleep;

use super::rows::{self, CheckState, QueueRow, Space, StateWrite, WriteState};
use crate::frontier::{AliasName, Host, Lease, LeaseState, Pending, Reservation, StoreError};

/// How soon an operation is repeated for the first time, and at the latest.
const REPEATED: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// A state, whether it can be reached, and whether its check is to stop.
pub(crate) struct StateAccess {
    state: Arc<dyn CheckState>,
    outage: watch::Sender<Option<Arc<StoreError>>>,
    stopping: watch::Sender<bool>,
}

impl StateAccess {
    pub(crate) fn new(state: Arc<dyn CheckState>) -> Self {
        Self {
            state,
            outage: watch::Sender::default(),
            stopping: watch::Sender::default(),
        }
    }

    /// Returns why the state cannot be reached, if that is so, as it changes.
    pub(crate) fn outage(&self) -> watch::Receiver<Option<Arc<StoreError>>> {
        self.outage.subscribe()
    }

    /// Sets whether the check is to stop.
    pub(crate) fn set_stopping(&self, stopping: bool) {
        self.stopping.send_replace(stopping);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Waits until the check is to stop.
    pub(crate) async fn stopped(&self) {
        // The sender is here, so the channel is never closed.
        let _ = self.stopping.subscribe().wait_for(|it| *it).await;
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.state.is_shared()
    }

    async fn repeat<'a, T>(
        &'a self,
        operation: impl Fn(&'a dyn CheckState) -> Pending<'a, T>,
    ) -> Result<T, StoreError> {
        let [mut wait, longest] = REPEATED;
        loop {
            let error = match operation(&*self.state).await {
                Err(error @ StoreError::Unavailable(_)) => error,
                result => {
                    self.outage
                        .send_if_modified(|outage| outage.take().is_some());
                    return result;
                }
            };
            if self.is_stopping() {
                return Err(error);
            }
            // Each operation that waits comes here again and again; it is one outage.
            self.outage.send_if_modified(|outage| {
                let begins = outage.is_none();
                outage.get_or_insert_with(|| Arc::new(error));
                begins
            });
            tokio::select! {
                () = sleep(wait) => {}
                () = self.stopped() => {}
            }
            wait = (wait * 2).min(longest);
        }
    }

    /// Returns the values of keys, in their order.
    pub(crate) async fn get(
        &self,
        space: Space,
        keys: &[Vec<u8>],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.repeat(|state| state.get(space, keys)).await
    }

    /// Returns the value of a key, and its bytes.
    pub(crate) async fn read_with_bytes<T: DeserializeOwned>(
        &self,
        space: Space,
        key: &[u8],
    ) -> Result<(Option<T>, Option<Vec<u8>>), StoreError> {
        let bytes = self.get(space, &[key.to_vec()]).await?.pop().flatten();
        Ok((bytes.as_deref().map(rows::decoded).transpose()?, bytes))
    }

    /// Returns the value of a key.
    pub(crate) async fn read<T: DeserializeOwned>(
        &self,
        space: Space,
        key: &[u8],
    ) -> Result<Option<T>, StoreError> {
        Ok(self.read_with_bytes(space, key).await?.0)
    }

    /// Returns the first row of the queue in a range.
    pub(crate) async fn first(
        &self,
        from: &[u8],
        to: &[u8],
    ) -> Result<Option<QueueRow>, StoreError> {
        let mut rows = self.repeat(|state| state.queued(from, to, 1)).await?;
        Ok(rows.pop())
    }

    pub(crate) async fn queued_keys(
        &self,
        from: &[u8],
        limit: usize,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        self.repeat(|state| state.queued_keys(from, limit)).await
    }

    pub(crate) async fn write(&self, write: &StateWrite) -> Result<WriteState, StoreError> {
        self.repeat(|state| state.write(write)).await
    }

    pub(crate) async fn release(
        &self,
        lease: &Lease,
        pause: Duration,
        next_in: Option<Duration>,
        write: &StateWrite,
    ) -> Result<WriteState, StoreError> {
        self.repeat(|state| state.release(lease, pause, next_in, write))
            .await
    }

    pub(crate) async fn reserve_next(&self, timeout: Duration) -> Result<Reservation, StoreError> {
        self.repeat(|state| state.store().reserve_next(timeout))
            .await
    }

    /// Renews a lease. Does not wait for the store, because the lease may end meanwhile.
    pub(crate) async fn renew(
        &self,
        lease: &Lease,
        timeout: Duration,
    ) -> Result<LeaseState, StoreError> {
        self.state.store().renew(lease, timeout).await
    }

    pub(crate) async fn block(&self, host: &Host, duration: Duration) -> Result<(), StoreError> {
        self.repeat(|state| state.store().block(host, duration))
            .await
    }

    pub(crate) async fn set_alias(
        &self,
        member: &Host,
        alias: Option<&AliasName>,
    ) -> Result<(), StoreError> {
        self.repeat(|state| state.store().set_alias(member, alias))
            .await
    }

    pub(crate) async fn reap(&self) -> Result<usize, StoreError> {
        self.repeat(|state| state.store().reap()).await
    }

    pub(crate) async fn due(&self, block: Duration) -> Result<usize, StoreError> {
        self.repeat(|state| state.store().due(block)).await
    }

    /// Counts hosts by their state, if the store can be reached now.
    pub(crate) async fn counts(&self) -> Result<crate::frontier::HostCounts, StoreError> {
        self.state.store().counts().await
    }
}
