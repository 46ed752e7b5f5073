//! Random operations on a store and on a simple model of it, which decides after each whether the
//! store's answer is right.
//!
//! The model keeps lists and looks through all of them each time. Where a store may choose, among
//! hosts that became due at the same time, the model follows its choice.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use waypost::frontier::{Lease, LeaseState, Reservation};

use crate::bench::{Bench, DEFAULT_PAUSE, millis};

/// The hosts; two are ports of one name.
const HOSTS: [&str; 6] = [
    "a.example",
    "a.example:81",
    "b.example",
    "c.example",
    "d.example",
    "e.example",
];
const ALIASES: [&str; 2] = ["one", "two"];

#[derive(Clone, Debug)]
enum Operation {
    Add(usize, u64),
    Remove(usize),
    Alias(usize, Option<usize>),
    Reserve(u64),
    /// Of the lease given so many reservations ago.
    Release(usize, u64, Option<u64>),
    Renew(usize, u64),
    Block(usize, u64),
    Reap,
    Pass(u64),
    Restart,
}

fn operation() -> impl Strategy<Value = Operation> {
    let host = 0..HOSTS.len();
    let time = prop_oneof![Just(0_u64), 1..10_u64, 10..100_u64];
    prop_oneof![
        4 => (host.clone(), time.clone()).prop_map(|(host, after)| Operation::Add(host, after)),
        1 => host.clone().prop_map(Operation::Remove),
        2 => (host.clone(), proptest::option::of(0..ALIASES.len()))
            .prop_map(|(host, alias)| Operation::Alias(host, alias)),
        6 => time.clone().prop_map(Operation::Reserve),
        4 => (0..4_usize, time.clone(), proptest::option::of(time.clone()))
            .prop_map(|(lease, pause, next)| Operation::Release(lease, pause, next)),
        2 => (0..4_usize, time.clone()).prop_map(|(lease, busy)| Operation::Renew(lease, busy)),
        1 => (host, time.clone()).prop_map(|(host, block)| Operation::Block(host, block)),
        2 => Just(Operation::Reap),
        4 => time.prop_map(Operation::Pass),
        1 => Just(Operation::Restart),
    ]
}

#[derive(Clone, Debug, Default)]
struct Row {
    next: Option<u64>,
    rested: u64,
    blocked: u64,
    pause: u64,
    removed: bool,
    /// Token, last millisecond, aliases that it holds.
    lease: Option<(u64, u64, BTreeSet<usize>)>,
}

#[derive(Debug, Default)]
struct Model {
    hosts: BTreeMap<usize, Row>,
    members: BTreeMap<usize, usize>,
    rested: [u64; ALIASES.len()],
    last_token: u64,
}

impl Model {
    fn alias_of(&self, host: usize) -> Option<usize> {
        let without_port = if host == 1 { 0 } else { host };
        let alias = self.members.get(&host);
        alias.or_else(|| self.members.get(&without_port)).copied()
    }

    fn holds(&self, alias: usize) -> bool {
        let mut leases = self.hosts.values().filter_map(|row| row.lease.as_ref());
        leases.any(|(_, _, holds)| holds.contains(&alias))
    }

    /// Returns the hosts that could be leased, each with when its group is due for it.
    fn ready(&self) -> Vec<(u64, usize)> {
        let queued = self.hosts.iter().filter(|(_, row)| row.lease.is_none());
        let free = queued.filter_map(|(host, row)| {
            let due = row.next?.max(row.rested).max(row.blocked);
            match self.alias_of(*host) {
                Some(alias) if self.holds(alias) => None,
                Some(alias) => Some((due.max(self.rested[alias]), *host)),
                None => Some((due, *host)),
            }
        });
        free.collect()
    }

    fn check(&mut self, now: u64, busy: u64, reservation: &Reservation) {
        let first = self.ready().into_iter().map(|(due, _)| due).min();
        let leases = self.hosts.values().filter_map(|row| row.lease.as_ref());
        let reaped = leases.map(|(_, until, _)| match *until < now {
            true => 1000,
            false => until - now + 1,
        });
        match reservation {
            Reservation::Leased(lease) => {
                let host = HOSTS
                    .iter()
                    .position(|host| *host == lease.host.as_str())
                    .unwrap();
                assert!(first.is_some_and(|due| due <= now), "nothing was due");
                assert!(
                    self.ready()
                        .iter()
                        .any(|(due, ready)| *ready == host && *due <= now)
                );
                // No group that became due earlier is passed over.
                let alias = self.alias_of(host);
                let group = self.ready().into_iter().filter(|(_, other)| match alias {
                    Some(alias) => self.alias_of(*other) == Some(alias),
                    None => *other == host,
                });
                assert_eq!(group.map(|(due, _)| due).min(), first);
                assert!(lease.token > self.last_token);
                assert_eq!(lease.time_left, millis(busy));
                assert_eq!(
                    lease.alias.as_ref().map(|name| name.as_str()),
                    alias.map(|alias| ALIASES[alias])
                );
                self.last_token = lease.token;
                let row = self.hosts.get_mut(&host).unwrap();
                row.next = None;
                row.lease = Some((lease.token, now + busy, alias.into_iter().collect()));
            }
            Reservation::Wait(wait) => {
                let due = first.map(|due| {
                    due.checked_sub(now)
                        .filter(|wait| *wait > 0)
                        .expect("a host is due")
                });
                assert_eq!(Some(*wait), due.into_iter().chain(reaped).min().map(millis));
            }
            Reservation::Empty => assert_eq!((first, reaped.count()), (None, 0)),
        }
    }

    fn current(&self, now: u64, lease: &Lease) -> Option<usize> {
        let (host, row) = self
            .hosts
            .iter()
            .find(|(host, _)| HOSTS[**host] == lease.host.as_str())?;
        let (token, until, _) = row.lease.as_ref()?;
        (*token == lease.token && now <= *until).then_some(*host)
    }

    fn end(&mut self, host: usize, rested: u64, pause: u64, next: Option<u64>) {
        let row = self.hosts.get_mut(&host).unwrap();
        let (_, _, holds) = row.lease.take().unwrap();
        row.rested = row.rested.max(rested);
        if pause > 0 {
            row.pause = pause;
        }
        if !row.removed {
            row.next = row.next.into_iter().chain(next).min();
        }
        for alias in holds {
            self.rested[alias] = self.rested[alias].max(rested);
        }
    }

    /// Ends the leases before a time, and returns how many there were.
    fn reap(&mut self, now: u64, before: u64) -> usize {
        let leases = self
            .hosts
            .iter()
            .filter_map(|(host, row)| Some((*host, row.lease.as_ref()?.1, row.pause)));
        let over: Vec<_> = leases.filter(|(_, until, _)| *until < before).collect();
        for (host, _, pause) in &over {
            let pause = (*pause).max(u64::try_from(DEFAULT_PAUSE.as_millis()).unwrap());
            self.end(*host, now + pause, pause, Some(now));
        }
        over.len()
    }

    fn forget(&mut self, now: u64) {
        self.hosts.retain(|_, row| {
            !row.removed || row.lease.is_some() || row.rested.max(row.blocked) > now
        });
    }

    fn set_alias(&mut self, member: usize, alias: Option<usize>) {
        let before: Vec<_> = (0..HOSTS.len()).map(|host| self.alias_of(host)).collect();
        match alias {
            Some(alias) => self.members.insert(member, alias),
            None => self.members.remove(&member),
        };
        for (host, before) in before.into_iter().enumerate() {
            let after = self.alias_of(host);
            if let (true, Some(alias), Some(row)) =
                (after != before, after, self.hosts.get_mut(&host))
            {
                self.rested[alias] = self.rested[alias].max(row.rested);
                if let Some((_, _, holds)) = &mut row.lease {
                    holds.insert(alias);
                }
            }
        }
    }
}

/// Runs random operations on a store and on the model.
pub(crate) fn agrees(bench: impl Fn() -> Bench) {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(60);
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let operations = proptest::collection::vec(operation(), 1..80);
    let result = TestRunner::new(config).run(&operations, |operations| {
        run(&mut bench(), &operations);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

fn run(bench: &mut Bench, operations: &[Operation]) {
    let mut model = Model::default();
    let mut leases: Vec<Lease> = Vec::new();
    for operation in operations {
        let now = bench.now;
        match *operation {
            Operation::Add(host, after) => {
                bench.add(HOSTS[host], millis(after));
                let row = model.hosts.entry(host).or_default();
                row.removed = false;
                row.next = row.next.into_iter().chain([now + after]).min();
            }
            Operation::Remove(host) => {
                bench.remove(HOSTS[host]);
                if let Some(row) = model.hosts.get_mut(&host) {
                    row.removed = true;
                    row.next = None;
                }
            }
            Operation::Alias(host, alias) => {
                bench.alias(HOSTS[host], alias.map(|alias| ALIASES[alias]));
                model.set_alias(host, alias);
            }
            Operation::Reserve(busy) => {
                let reservation = bench.reserve(millis(busy));
                model.check(now, busy, &reservation);
                if let Reservation::Leased(lease) = reservation {
                    leases.insert(0, lease);
                }
            }
            Operation::Release(lease, pause, next) => {
                if let Some(lease) = leases.get(lease) {
                    let state = bench.release(lease, millis(pause), next.map(millis));
                    let current = model.current(now, lease);
                    assert_eq!(state == LeaseState::Current, current.is_some());
                    if let Some(host) = current {
                        model.end(host, now + pause, pause, next.map(|next| now + next));
                    }
                }
            }
            Operation::Renew(lease, busy) => {
                if let Some(lease) = leases.get(lease) {
                    let state = bench.renew(lease, millis(busy));
                    let current = model.current(now, lease);
                    assert_eq!(state == LeaseState::Current, current.is_some());
                    let row = current.and_then(|host| model.hosts.get_mut(&host));
                    if let Some((_, until, _)) = row.and_then(|row| row.lease.as_mut()) {
                        *until = (*until).max(now + busy);
                    }
                }
            }
            Operation::Block(host, duration) => {
                bench.block(HOSTS[host], millis(duration));
                let row = model.hosts.entry(host).or_default();
                row.blocked = row.blocked.max(now + duration);
            }
            Operation::Reap => {
                assert_eq!(bench.reap(), model.reap(now, now));
                model.forget(now);
            }
            Operation::Pass(millis) => bench.pass(millis),
            Operation::Restart => {
                if bench.restart() && bench.ends_leases() {
                    model.reap(now, u64::MAX);
                }
            }
        }
        check_counts(bench, &model);
    }
    // Whatever happened, all work ends.
    for _ in 0..100 {
        match bench.reserve(millis(1)) {
            Reservation::Leased(lease) => {
                model.check(bench.now, 1, &Reservation::Leased(lease.clone()));
                assert_eq!(bench.release(&lease, millis(0), None), LeaseState::Current);
                let host = model.current(bench.now, &lease).unwrap();
                model.end(host, bench.now, 0, None);
            }
            Reservation::Wait(wait) => {
                bench.pass(u64::try_from(wait.as_millis()).unwrap());
                assert_eq!(bench.reap(), model.reap(bench.now, bench.now));
                model.forget(bench.now);
            }
            Reservation::Empty => break,
        }
    }
    bench.drained();
}

fn check_counts(bench: &Bench, model: &Model) {
    let counts = bench.counts();
    let rows = || model.hosts.values();
    let queued = rows().filter(|row| row.next.is_some() && row.lease.is_none());
    assert_eq!(counts.queued, queued.count());
    assert_eq!(
        counts.busy,
        rows().filter(|row| row.lease.is_some()).count()
    );
    assert_eq!(
        counts.blocked,
        rows().filter(|row| row.blocked > bench.now).count()
    );
    assert_eq!(counts.hosts, model.hosts.len());
    let due = rows().filter(|row| {
        let has_come = row.next.is_some_and(|next| next <= bench.now);
        row.lease.is_some() || (has_come && row.blocked <= bench.now + 50)
    });
    assert_eq!(bench.due(millis(50)), due.count());
    let busy_aliases = (0..ALIASES.len()).filter(|alias| model.holds(*alias));
    assert_eq!(counts.busy_aliases, busy_aliases.count());
}
