//! Two workers over a hundred ticks, one of which forgets a release.

use std::collections::BTreeMap;

use waypost::frontier::{Lease, LeaseState, Reservation};

use crate::bench::{Bench, secs};

/// How many times each host is to be requested.
const ROUNDS: usize = 3;

/// How long a worker keeps a host, in ticks.
const TICKS: u64 = 2;

/// The hosts, and the alias of some.
const HOSTS: [(&str, Option<&str>); 6] = [
    ("a.example", Some("pair")),
    ("b.example", Some("pair")),
    ("c.example", None),
    ("d.example", None),
    ("e.example", None),
    ("f.example", None),
];

pub(crate) fn two_workers_drain_the_queue_though_one_release_is_forgotten(mut bench: Bench) {
    for (host, alias) in HOSTS {
        bench.alias(host, alias);
        bench.add(host, secs(0));
    }
    let mut left: BTreeMap<_, _> = HOSTS.iter().map(|(host, _)| (*host, ROUNDS)).collect();
    let mut workers: [Option<(Lease, u64)>; 2] = [None, None];
    let mut given = 0;
    let mut forgotten: Option<Lease> = None;
    // When each group was last requested; the forgotten one is in progress until its lease ends.
    let mut asked: BTreeMap<String, u64> = BTreeMap::new();
    let mut drained_at = None;
    for tick in 0..100_u64 {
        for worker in &mut workers {
            if let Some((lease, until)) = worker.take_if(|(_, until)| *until == tick) {
                let host = lease.host.as_str();
                *left.get_mut(host).unwrap() -= 1;
                let next = (left[host] > 0).then_some(secs(0));
                assert_eq!(bench.release(&lease, secs(2), next), LeaseState::Current);
                asked.insert(group(&lease), until);
            }
            if worker.is_some() {
                continue;
            }
            match bench.reserve(secs(20)) {
                Reservation::Leased(lease) => {
                    let rested = asked.get(&group(&lease)).is_none_or(|at| tick >= at + 2);
                    assert!(rested, "{} was asked too soon at {tick}", lease.host);
                    given += 1;
                    if given == 4 {
                        // The worker forgets it and goes on with another.
                        asked.insert(group(&lease), tick + 20);
                        forgotten = Some(lease);
                        continue;
                    }
                    asked.insert(group(&lease), tick + 20);
                    *worker = Some((lease, tick + TICKS));
                }
                Reservation::Wait(_) => {}
                Reservation::Empty => drained_at = drained_at.or(Some(tick)),
            }
        }
        if let (Some(lease), 50) = (&forgotten, tick) {
            assert_eq!(bench.release(lease, secs(0), None), LeaseState::Ended);
        }
        let counts = bench.counts();
        assert!(counts.busy <= 3 && counts.busy_aliases <= 1, "{counts:?}");
        bench.pass(1000);
        if (tick + 1) % 10 == 0 {
            bench.reap();
        }
    }
    assert!(forgotten.is_some());
    assert!(left.values().all(|left| *left == 0), "{left:?}");
    assert!(drained_at.is_some());
    bench.drained();
    assert_eq!(bench.counts().hosts, HOSTS.len());
}

fn group(lease: &Lease) -> String {
    let alias = lease.alias.as_ref();
    alias.map_or_else(|| lease.host.to_string(), ToString::to_string)
}
