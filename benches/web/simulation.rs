//! Simulated time: while nothing happens, it jumps to the next event.
//!
//! The state and the simulated Web share the clock. It moves when the runtime, which has one thread,
//! is about to sleep. A reservation that has to wait is answered once the time has come, so that the
//! checker never sleeps on the machine's clock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use waypost::frontier::{
    AliasName, Clock, Host, HostCounts, Lease, LeaseState, Pending, Reservation, Settings, Store,
};
use waypost::linkcheck::{
    CheckState, MemoryState, PendingReply, Question, QueueRow, Requester, Space, StateWrite,
    WriteState,
};

use super::answer;

/// When the simulation begins, since 1970.
const START: Duration = Duration::from_secs(1_795_305_600);

/// Later events are left to the next run.
const HORIZON: Duration = Duration::from_secs(3600);

/// A clock, with the tasks to wake and their times.
#[derive(Clone, Default)]
pub(crate) struct SimulatedClock(Arc<Mutex<Timers>>);

#[derive(Default)]
struct Timers {
    now: Duration,
    last: u64,
    times: BinaryHeap<Reverse<(Duration, u64)>>,
    wakers: HashMap<u64, Waker>,
}

impl Clock for SimulatedClock {
    fn now(&self) -> Duration {
        START + self.timers().now
    }
}

impl SimulatedClock {
    /// Returns a runtime with one thread, on which this clock moves.
    pub(crate) fn runtime(&self) -> Runtime {
        let clock = self.clone();
        let runtime = Builder::new_current_thread()
            .enable_all()
            .on_thread_park(move || clock.advance())
            .build();
        runtime.expect("a runtime can be built")
    }

    /// Returns the time since the simulation began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.timers().now
    }

    /// Waits for a time to pass.
    async fn sleep(&self, duration: Duration) {
        let (until, id) = {
            let mut timers = self.timers();
            timers.last += 1;
            let (until, id) = (timers.now + duration, timers.last);
            timers.times.push(Reverse((until, id)));
            (until, id)
        };
        let _sleeper = Sleeper { clock: self, id };
        poll_fn(|context| {
            let mut timers = self.timers();
            if timers.now >= until {
                return Poll::Ready(());
            }
            timers.wakers.insert(id, context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Advances to the next time for which a task waits.
    fn advance(&self) {
        let mut timers = self.timers();
        while let Some(Reverse((until, id))) = timers.times.pop() {
            if let Some(waker) = timers.wakers.remove(&id) {
                timers.now = timers.now.max(until);
                drop(timers);
                return waker.wake();
            }
        }
    }

    fn timers(&self) -> MutexGuard<'_, Timers> {
        self.0.lock().expect("nothing that is done here panics")
    }
}

/// A waiting task; one that is dropped must not stop the clock.
struct Sleeper<'c> {
    clock: &'c SimulatedClock,
    id: u64,
}

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        self.clock.timers().wakers.remove(&self.id);
    }
}

/// Returns how long a host takes to answer: 50 to 200 ms.
pub(crate) fn answer_time(host: &str) -> Duration {
    let hash = host.bytes().fold(5381_u64, |hash, byte| {
        hash.wrapping_mul(33) ^ u64::from(byte)
    });
    Duration::from_millis(50 + hash % 151)
}

/// Sends requests to the simulated Web.
pub(crate) struct SimulatedWeb(pub(crate) SimulatedClock);

impl Requester for SimulatedWeb {
    fn send<'a>(&'a self, question: &'a Question) -> PendingReply<'a> {
        Box::pin(async move {
            let took = answer_time(question.url.url().host_str().unwrap_or_default());
            self.0.sleep(took).await;
            answer(question, took)
        })
    }
}

/// A state in memory, whose reservations wait for the simulated time.
pub(crate) struct SimulatedState {
    state: MemoryState,
    clock: SimulatedClock,
    /// Something may be due earlier than it was.
    sooner: Notify,
}

impl SimulatedState {
    pub(crate) fn new(clock: &SimulatedClock, delay: Duration) -> Self {
        Self {
            state: MemoryState::new(clock.clone(), delay),
            clock: clock.clone(),
            sooner: Notify::new(),
        }
    }
}

impl CheckState for SimulatedState {
    fn store(&self) -> &dyn Store {
        self
    }

    fn is_shared(&self) -> bool {
        self.state.is_shared()
    }

    fn get<'a>(&'a self, space: Space, keys: &'a [Vec<u8>]) -> Pending<'a, Vec<Option<Vec<u8>>>> {
        self.state.get(space, keys)
    }

    fn queued<'a>(
        &'a self,
        from: &'a [u8],
        to: &'a [u8],
        limit: usize,
    ) -> Pending<'a, Vec<QueueRow>> {
        self.state.queued(from, to, limit)
    }

    fn queued_keys<'a>(&'a self, from: &'a [u8], limit: usize) -> Pending<'a, Vec<Vec<u8>>> {
        self.state.queued_keys(from, limit)
    }

    fn write<'a>(&'a self, write: &'a StateWrite) -> Pending<'a, WriteState> {
        self.then_look(self.state.write(write))
    }

    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
        write: &'a StateWrite,
    ) -> Pending<'a, WriteState> {
        self.then_look(self.state.release(lease, pause, next_in, write))
    }
}

impl SimulatedState {
    /// Makes the waiting reservation check again after an operation.
    fn then_look<'a, T: Send + 'a>(&'a self, operation: Pending<'a, T>) -> Pending<'a, T> {
        Box::pin(async move {
            let result = operation.await;
            self.sooner.notify_waiters();
            result
        })
    }
}

impl Store for SimulatedState {
    fn add_host<'a>(&'a self, host: &'a Host, after: Duration) -> Pending<'a, ()> {
        self.then_look(self.state.store().add_host(host, after))
    }

    fn remove_host<'a>(&'a self, host: &'a Host) -> Pending<'a, ()> {
        self.state.store().remove_host(host)
    }

    fn set_alias<'a>(&'a self, member: &'a Host, alias: Option<&'a AliasName>) -> Pending<'a, ()> {
        self.state.store().set_alias(member, alias)
    }

    fn reserve_next(&self, busy_timeout: Duration) -> Pending<'_, Reservation> {
        Box::pin(async move {
            let mut sooner = pin!(self.sooner.notified());
            sooner.as_mut().enable();
            match self.state.store().reserve_next(busy_timeout).await? {
                Reservation::Wait(wait) if wait < HORIZON => {
                    tokio::select! {
                        () = self.clock.sleep(wait) => {}
                        () = sooner => {}
                    }
                    Ok(Reservation::Wait(Duration::ZERO))
                }
                reservation => Ok(reservation),
            }
        })
    }

    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
    ) -> Pending<'a, LeaseState> {
        self.then_look(self.state.store().release(lease, pause, next_in))
    }

    fn renew<'a>(&'a self, lease: &'a Lease, busy_timeout: Duration) -> Pending<'a, LeaseState> {
        self.state.store().renew(lease, busy_timeout)
    }

    fn block<'a>(&'a self, host: &'a Host, duration: Duration) -> Pending<'a, ()> {
        self.state.store().block(host, duration)
    }

    fn set_settings<'a>(&'a self, host: &'a Host, settings: &'a Settings) -> Pending<'a, ()> {
        self.state.store().set_settings(host, settings)
    }

    fn settings<'a>(&'a self, host: &'a Host) -> Pending<'a, Option<Settings>> {
        self.state.store().settings(host)
    }

    fn reap(&self) -> Pending<'_, usize> {
        self.state.store().reap()
    }

    fn due(&self, block: Duration) -> Pending<'_, usize> {
        self.state.store().due(block)
    }

    fn counts(&self) -> Pending<'_, HostCounts> {
        self.state.store().counts()
    }
}
