//! A state that a test can make unavailable, and whose answers it can hold back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Barrier, watch};
use tokio::time::sleep;
use waypost::frontier::{
    AliasName, Host, HostCounts, Lease, LeaseState, Pending, Reservation, Settings, Store,
    StoreError,
};
use waypost::linkcheck::{CheckState, QueueRow, Space, StateWrite, WriteState};

/// A state behind another one.
pub(crate) struct Interposed {
    inner: Arc<dyn CheckState>,
    pub(crate) is_down: AtomicBool,
    /// How many operations failed.
    pub(crate) failed: AtomicUsize,
    /// The first two reads of endings both take place before either goes on.
    pub(crate) endings: Option<(Barrier, AtomicUsize)>,
    /// Answers that nothing is due come only after the leases of that time have ended.
    pub(crate) is_late: bool,
    /// Of many links that are moved in the queue, another worker takes the first.
    pub(crate) takes_first: AtomicBool,
    leases: watch::Sender<usize>,
}

impl Interposed {
    pub(crate) fn before(inner: Arc<dyn CheckState>) -> Self {
        Self {
            inner,
            is_down: AtomicBool::new(false),
            failed: AtomicUsize::new(0),
            endings: None,
            is_late: false,
            takes_first: AtomicBool::new(false),
            leases: watch::Sender::default(),
        }
    }

    fn pass<'a, T: 'a>(&'a self, operation: Pending<'a, T>) -> Pending<'a, T> {
        Box::pin(async move {
            if self.is_down.load(Ordering::SeqCst) {
                self.failed.fetch_add(1, Ordering::SeqCst);
                return Err(StoreError::Unavailable("it is down".into()));
            }
            operation.await
        })
    }
}

impl CheckState for Interposed {
    fn store(&self) -> &dyn Store {
        self
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }

    fn get<'a>(&'a self, space: Space, keys: &'a [Vec<u8>]) -> Pending<'a, Vec<Option<Vec<u8>>>> {
        let read = self.pass(self.inner.get(space, keys));
        Box::pin(async move {
            let values = read.await?;
            if let (Space::Endings, Some((both, reads))) = (space, &self.endings)
                && reads.fetch_add(1, Ordering::SeqCst) < 2
            {
                both.wait().await;
            }
            Ok(values)
        })
    }

    fn queued<'a>(
        &'a self,
        from: &'a [u8],
        to: &'a [u8],
        limit: usize,
    ) -> Pending<'a, Vec<QueueRow>> {
        self.pass(self.inner.queued(from, to, limit))
    }

    fn queued_keys<'a>(&'a self, from: &'a [u8], limit: usize) -> Pending<'a, Vec<Vec<u8>>> {
        self.pass(self.inner.queued_keys(from, limit))
    }

    fn write<'a>(&'a self, write: &'a StateWrite) -> Pending<'a, WriteState> {
        let written = self.pass(self.inner.write(write));
        Box::pin(async move {
            let mut moved = write.expected.iter().filter(|it| it.space == Space::Queue);
            let is_taken = moved.nth(1).is_some() && self.takes_first.load(Ordering::SeqCst);
            match is_taken {
                true => Ok(WriteState::Conflict),
                false => written.await,
            }
        })
    }

    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
        write: &'a StateWrite,
    ) -> Pending<'a, WriteState> {
        let released = self.pass(self.inner.release(lease, pause, next_in, write));
        Box::pin(async move {
            let result = released.await;
            if let Ok(WriteState::Written) = result {
                self.leases.send_modify(|leases| *leases -= 1);
            }
            result
        })
    }
}

impl Store for Interposed {
    fn add_host<'a>(&'a self, host: &'a Host, after: Duration) -> Pending<'a, ()> {
        self.pass(self.inner.store().add_host(host, after))
    }

    fn remove_host<'a>(&'a self, host: &'a Host) -> Pending<'a, ()> {
        self.pass(self.inner.store().remove_host(host))
    }

    fn set_alias<'a>(&'a self, member: &'a Host, alias: Option<&'a AliasName>) -> Pending<'a, ()> {
        self.pass(self.inner.store().set_alias(member, alias))
    }

    fn reserve_next(&self, busy_timeout: Duration) -> Pending<'_, Reservation> {
        let reserved = self.pass(self.inner.store().reserve_next(busy_timeout));
        Box::pin(async move {
            let reservation = reserved.await?;
            match reservation {
                Reservation::Leased(_) => self.leases.send_modify(|leases| *leases += 1),
                _ if self.is_late => {
                    let mut leases = self.leases.subscribe();
                    leases.wait_for(|leases| *leases == 0).await.unwrap();
                    // The caller that released it goes on first.
                    sleep(Duration::from_millis(5)).await;
                }
                _ => {}
            }
            Ok(reservation)
        })
    }

    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
    ) -> Pending<'a, LeaseState> {
        self.pass(self.inner.store().release(lease, pause, next_in))
    }

    fn renew<'a>(&'a self, lease: &'a Lease, busy_timeout: Duration) -> Pending<'a, LeaseState> {
        self.pass(self.inner.store().renew(lease, busy_timeout))
    }

    fn block<'a>(&'a self, host: &'a Host, duration: Duration) -> Pending<'a, ()> {
        self.pass(self.inner.store().block(host, duration))
    }

    fn set_settings<'a>(&'a self, host: &'a Host, settings: &'a Settings) -> Pending<'a, ()> {
        self.pass(self.inner.store().set_settings(host, settings))
    }

    fn settings<'a>(&'a self, host: &'a Host) -> Pending<'a, Option<Settings>> {
        self.pass(self.inner.store().settings(host))
    }

    fn reap(&self) -> Pending<'_, usize> {
        self.pass(self.inner.store().reap())
    }

    fn due(&self, block: Duration) -> Pending<'_, usize> {
        self.pass(self.inner.store().due(block))
    }

    fn counts(&self) -> Pending<'_, HostCounts> {
        self.pass(self.inner.store().counts())
    }
}
