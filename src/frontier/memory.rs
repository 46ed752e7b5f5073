//! The store for one run, in memory only.

use std::sync::Mutex;
use std::time::Duration;

use super::contract::{
    AliasName, Clock, Host, HostCounts, Lease, LeaseState, Now, Pending, Reservation, Settings,
    SteadyClock, Store, StoreTime,
};
use super::schedule::HostSchedule;

/// A store in memory.
pub struct Memory {
    state: Mutex<(SteadyClock, HostSchedule)>,
}

impl Memory {
    /// Returns an empty store; `default_pause` is the minimum pause of a group after a lease that
    /// ends without a release.
    pub fn new(clock: impl Clock + 'static, default_pause: Duration) -> Self {
        let clock = SteadyClock::starting_at(Box::new(clock), StoreTime::default());
        Self {
            state: Mutex::new((clock, HostSchedule::new(default_pause))),
        }
    }

    fn run<'a, T: 'a>(
        &'a self,
        operation: impl FnOnce(&mut HostSchedule, Now) -> T + Send + 'a,
    ) -> Pending<'a, T> {
        Box::pin(async {
            let mut state = self.state.lock().expect("no operation panics");
            let (clock, schedule) = &mut *state;
            let now = clock.now();
            Ok(operation(schedule, now))
        })
    }
}

impl Store for Memory {
    fn add_host<'a>(&'a self, host: &'a Host, after: Duration) -> Pending<'a, ()> {
        self.run(move |schedule, now| schedule.add_host(now, host, after))
    }

    fn remove_host<'a>(&'a self, host: &'a Host) -> Pending<'a, ()> {
        self.run(move |schedule, _| schedule.remove_host(host))
    }

    fn set_alias<'a>(&'a self, member: &'a Host, alias: Option<&'a AliasName>) -> Pending<'a, ()> {
        self.run(move |schedule, _| schedule.set_alias(member, alias))
    }

    fn reserve_next(&self, busy_timeout: Duration) -> Pending<'_, Reservation> {
        self.run(move |schedule, now| schedule.reserve_next(now, busy_timeout))
    }

    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
    ) -> Pending<'a, LeaseState> {
        self.run(move |schedule, now| schedule.release(now, lease, pause, next_in))
    }

    fn renew<'a>(&'a self, lease: &'a Lease, busy_timeout: Duration) -> Pending<'a, LeaseState> {
        self.run(move |schedule, now| schedule.renew(now, lease, busy_timeout))
    }

    fn block<'a>(&'a self, host: &'a Host, duration: Duration) -> Pending<'a, ()> {
        self.run(move |schedule, now| schedule.block(now, host, duration))
    }

    fn set_settings<'a>(&'a self, host: &'a Host, settings: &'a Settings) -> Pending<'a, ()> {
        self.run(move |schedule, _| schedule.set_settings(host, settings))
    }

    fn settings<'a>(&'a self, host: &'a Host) -> Pending<'a, Option<Settings>> {
        self.run(move |schedule, _| schedule.settings(host))
    }

    fn reap(&self) -> Pending<'_, usize> {
        self.run(move |schedule, now| schedule.reap(now))
    }

    fn due(&self, block: Duration) -> Pending<'_, usize> {
        self.run(move |schedule, now| schedule.due(now, block))
    }

    fn counts(&self) -> Pending<'_, HostCounts> {
        self.run(move |schedule, now| schedule.counts(now))
    }
}
