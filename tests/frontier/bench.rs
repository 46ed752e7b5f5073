//! A store under test, with a clock that the test sets.

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime::Runtime;
use waypost::frontier::{
    AliasName, Clock, Host, HostCounts, Lease, LeaseState, Reservation, Settings, Store, StoreError,
};

/// What every store under test is created with: the minimum pause after a lease without a release.
pub(crate) const DEFAULT_PAUSE: Duration = Duration::from_secs(3);

/// When tests begin, in milliseconds since 1970.
const START: u64 = 1_700_000_000_000;

/// One kind of store, which a test can start again and whose clock it can set.
pub(crate) trait Engine {
    /// Returns the store as a new process would open it; the one before is gone.
    fn open(&mut self, runtime: &Runtime) -> Arc<dyn Store>;

    /// Sets the store's clock to so many milliseconds since 1970.
    fn set_clock(&mut self, millis: u64);

    /// Returns whether hosts outlive the store's process.
    fn keeps(&self) -> bool;

    /// Returns whether opening ends the leases of the process before.
    fn ends_leases(&self) -> bool;
}

/// A clock that tests set.
#[derive(Clone, Default)]
pub(crate) struct TestClock(pub(crate) Arc<AtomicU64>);

impl Clock for TestClock {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// A store under test; its operations wait for their result, and fail the test if they fail.
pub(crate) struct Bench {
    engine: Box<dyn Engine>,
    store: Option<Arc<dyn Store>>,
    runtime: Runtime,
    /// Milliseconds since the test began.
    pub(crate) now: u64,
}

impl Bench {
    pub(crate) fn new(mut engine: Box<dyn Engine>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        engine.set_clock(START);
        let store = Some(engine.open(&runtime));
        Self {
            engine,
            store,
            runtime,
            now: 0,
        }
    }

    /// Opens the store again, as the next process; returns whether hosts outlive that.
    pub(crate) fn restart(&mut self) -> bool {
        let keeps = self.engine.keeps();
        if keeps {
            self.store = None;
            self.store = Some(self.engine.open(&self.runtime));
        }
        keeps
    }

    /// Returns whether opening the store ends the leases of the process before.
    pub(crate) fn ends_leases(&self) -> bool {
        self.engine.ends_leases()
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, millis: u64) {
        self.now += millis;
        self.engine.set_clock(START + self.now);
    }

    /// Sets the clock so many milliseconds after the start of the test, or before it.
    pub(crate) fn set_clock(&mut self, millis: i64) {
        self.engine
            .set_clock(START.checked_add_signed(millis).unwrap());
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(self.store.as_ref().unwrap())
    }

    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    #[track_caller]
    fn done<T: Debug>(&self, future: impl Future<Output = Result<T, StoreError>>) -> T {
        self.runtime.block_on(future).unwrap()
    }

    #[track_caller]
    pub(crate) fn add(&self, host: &str, after: Duration) {
        self.done(self.store().add_host(&named(host), after));
    }

    #[track_caller]
    pub(crate) fn remove(&self, host: &str) {
        self.done(self.store().remove_host(&named(host)));
    }

    #[track_caller]
    pub(crate) fn alias(&self, member: &str, alias: Option<&str>) {
        let alias = alias.map(|alias| AliasName::parse(alias).unwrap());
        self.done(self.store().set_alias(&named(member), alias.as_ref()));
    }

    #[track_caller]
    pub(crate) fn reserve(&self, busy_timeout: Duration) -> Reservation {
        self.done(self.store().reserve_next(busy_timeout))
    }

    /// Reserves, and fails the test unless it is this host that is due.
    #[track_caller]
    pub(crate) fn lease(&self, host: &str, busy_timeout: Duration) -> Lease {
        match self.reserve(busy_timeout) {
            Reservation::Leased(lease) if lease.host.as_str() == host => lease,
            other => panic!("{host} was to be leased, and not {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn release(
        &self,
        lease: &Lease,
        pause: Duration,
        next_in: Option<Duration>,
    ) -> LeaseState {
        self.done(self.store().release(lease, pause, next_in))
    }

    #[track_caller]
    pub(crate) fn renew(&self, lease: &Lease, busy_timeout: Duration) -> LeaseState {
        self.done(self.store().renew(lease, busy_timeout))
    }

    #[track_caller]
    pub(crate) fn block(&self, host: &str, duration: Duration) {
        self.done(self.store().block(&named(host), duration));
    }

    #[track_caller]
    pub(crate) fn set_settings(&self, host: &str, pause: Duration, note: &[u8]) {
        let note = note.into();
        self.done(
            self.store()
                .set_settings(&named(host), &Settings { pause, note }),
        );
    }

    #[track_caller]
    pub(crate) fn settings(&self, host: &str) -> Option<Settings> {
        self.done(self.store().settings(&named(host)))
    }

    #[track_caller]
    pub(crate) fn reap(&self) -> usize {
        self.done(self.store().reap())
    }

    #[track_caller]
    pub(crate) fn due(&self, block: Duration) -> usize {
        self.done(self.store().due(block))
    }

    #[track_caller]
    pub(crate) fn counts(&self) -> HostCounts {
        self.done(self.store().counts())
    }

    /// Fails the test unless nothing is due for exactly so long.
    #[track_caller]
    pub(crate) fn waits(&self, duration: Duration) {
        assert_eq!(self.reserve(secs(60)), Reservation::Wait(duration));
    }

    /// Fails the test unless no host is queued or leased, and no alias busy.
    #[track_caller]
    pub(crate) fn drained(&self) {
        assert_eq!(self.reserve(secs(60)), Reservation::Empty);
        let counts = self.counts();
        assert_eq!((counts.queued, counts.busy, counts.busy_aliases), (0, 0, 0));
    }
}

pub(crate) fn named(host: &str) -> Host {
    Host::parse(host).unwrap()
}

pub(crate) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
