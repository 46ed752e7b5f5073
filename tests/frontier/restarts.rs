//! What outlives a worker, and what outlives the process that keeps a store.

use waypost::frontier::{LeaseState, Reservation};

use crate::bench::{Bench, DEFAULT_PAUSE, millis, secs};

/// What a worker does with a lease before it dies, step by step.
const STEPS: usize = 5;

fn work(bench: &mut Bench, steps: usize) {
    let mut lease = None;
    for step in 0..steps {
        match (step, &lease) {
            (0, _) => lease = Some(bench.lease("a.example", secs(20))),
            (1, Some(_)) => bench.set_settings("a.example", secs(6), b"robots"),
            (2, Some(lease)) => assert_eq!(bench.renew(lease, secs(20)), LeaseState::Current),
            (3, Some(_)) => bench.add("a.example", secs(0)),
            (4, Some(lease)) => {
                assert_eq!(
                    bench.release(lease, secs(6), Some(secs(0))),
                    LeaseState::Current
                );
            }
            other => unreachable!("{other:?}"),
        }
    }
}

/// Fails the test unless both members are leased in turn within a time, once each.
fn both_come_back(bench: &mut Bench, mut millis_left: u64) {
    let mut seen = Vec::new();
    while seen.len() < 2 {
        match bench.reserve(secs(20)) {
            Reservation::Leased(lease) => {
                assert_eq!(bench.counts().busy, 1, "an alias has one lease");
                bench.release(&lease, secs(0), None);
                seen.push(lease.host.to_string());
            }
            Reservation::Wait(_) => {
                millis_left = millis_left
                    .checked_sub(1000)
                    .expect("a host came back in time");
                bench.pass(1000);
                bench.reap();
            }
            Reservation::Empty => panic!("a host is lost; there was {seen:?}"),
        }
    }
    seen.sort();
    assert_eq!(seen, ["a.example", "b.example"]);
    bench.drained();
}

pub(crate) fn a_worker_may_die_after_each_step(mut bench: Bench) {
    for steps in 0..=STEPS {
        for (host, after) in [("a.example", 0), ("b.example", 1)] {
            bench.alias(host, Some("pair"));
            bench.add(host, millis(after));
        }
        work(&mut bench, steps);
        both_come_back(&mut bench, 40_000);
        bench.pass(60_000);
    }
}

pub(crate) fn a_process_may_die_after_each_step(mut bench: Bench) {
    for steps in 0..=STEPS {
        for (host, after) in [("a.example", 0), ("b.example", 1)] {
            bench.alias(host, Some("pair"));
            bench.add(host, millis(after));
        }
        work(&mut bench, steps);
        bench.restart();
        let counts = bench.counts();
        assert_eq!(counts.queued + counts.busy, 2, "after {steps} steps");
        if bench.ends_leases() {
            assert_eq!(counts.busy, 0);
        }
        both_come_back(&mut bench, 40_000);
        bench.pass(60_000);
    }
}

pub(crate) fn two_of_three_workers_die(mut bench: Bench) {
    let hosts: Vec<_> = (0..30).map(|number| format!("h{number}.example")).collect();
    for (number, host) in hosts.iter().enumerate() {
        if number % 3 == 0 {
            bench.alias(host, Some("third"));
        }
        bench.add(host, secs(0));
    }
    let mut left = hosts.len();
    let mut dead = 0;
    for turn in 0.. {
        assert!(turn < 1000, "{left} hosts are left");
        match bench.reserve(secs(20)) {
            // The first two workers die with their first lease.
            Reservation::Leased(_) if dead < 2 => dead += 1,
            Reservation::Leased(lease) => {
                assert_eq!(bench.release(&lease, secs(1), None), LeaseState::Current);
                left -= 1;
            }
            Reservation::Wait(_) => {
                bench.pass(1000);
                if turn % 10 == 0 {
                    bench.reap();
                }
            }
            Reservation::Empty => break,
        }
    }
    assert_eq!(left, 0, "each host was done once");
    bench.drained();
}

pub(crate) fn a_restart_keeps_pauses_blocks_and_settings(mut bench: Bench) {
    bench.alias("a.example", Some("pair"));
    bench.alias("b.example", Some("pair"));
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    bench.release(&lease, secs(30), Some(secs(5)));
    bench.set_settings("a.example", secs(17), b"crawl-delay");
    bench.block("c.example", secs(90));
    if !bench.restart() {
        return;
    }
    bench.pass(1000);
    let settings = bench.settings("a.example").unwrap();
    assert_eq!(
        (settings.pause, &settings.note[..]),
        (secs(17), &b"crawl-delay"[..])
    );
    bench.add("b.example", secs(0));
    bench.add("c.example", secs(0));
    let counts = bench.counts();
    assert_eq!((counts.hosts, counts.queued, counts.blocked), (3, 3, 1));
    bench.waits(secs(29));
    bench.pass(29_000);
    let lease = bench.lease("b.example", secs(20));
    assert_eq!(lease.alias.as_ref().unwrap().as_str(), "pair");
    bench.release(&lease, secs(0), None);
    let lease = bench.lease("a.example", secs(20));
    assert_eq!(lease.settings.pause, secs(17));
    bench.release(&lease, secs(0), None);
    bench.waits(secs(60));
}

pub(crate) fn a_restart_ends_leases_with_a_full_pause(mut bench: Bench) {
    bench.alias("a.example", Some("pair"));
    bench.alias("b.example", Some("pair"));
    for (host, after) in [("a.example", 0), ("b.example", 1), ("c.example", 2)] {
        bench.add(host, millis(after));
    }
    bench.pass(2);
    let pair = bench.lease("a.example", secs(60));
    bench.set_settings("a.example", secs(9), b"");
    let single = bench.lease("c.example", secs(60));
    if !bench.restart() || !bench.ends_leases() {
        return;
    }
    assert_eq!(bench.counts().busy, 0);
    for lease in [&pair, &single] {
        assert_eq!(bench.renew(lease, secs(60)), LeaseState::Ended);
        assert_eq!(bench.release(lease, secs(0), None), LeaseState::Ended);
    }
    bench.waits(DEFAULT_PAUSE);
    bench.pass(3000);
    let next = bench.lease("c.example", secs(60));
    assert!(next.token > single.token, "a token is never given twice");
    bench.waits(secs(6));
    bench.pass(6000);
    bench.lease("b.example", secs(60));
    bench.waits(millis(54_001));
}
