//! Hosts that share an allowance.

use std::collections::BTreeSet;
use std::sync::Arc;

use waypost::frontier::{Lease, LeaseState, Reservation};

use crate::bench::{Bench, DEFAULT_PAUSE, millis, secs};

pub(crate) fn an_alias_has_one_lease_and_one_pause(mut bench: Bench) {
    for host in ["a.example", "b.example"] {
        bench.alias(host, Some("pair"));
        bench.add(host, secs(0));
    }
    let lease = bench.lease("a.example", secs(20));
    assert_eq!(
        lease.alias.as_ref().map(|alias| alias.as_str()),
        Some("pair")
    );
    bench.waits(millis(20_001));
    bench.release(&lease, secs(4), Some(secs(0)));
    bench.waits(secs(4));
    bench.pass(4000);
    let lease = bench.lease("b.example", secs(20));
    bench.release(&lease, secs(4), None);
    // Its own time has passed, but the group rests.
    bench.waits(secs(4));
    bench.pass(4000);
    let lease = bench.lease("a.example", secs(20));
    bench.release(&lease, secs(4), None);
    bench.drained();
    bench.add("b.example", secs(0));
    bench.waits(secs(4));
}

pub(crate) fn parallel_reserves_give_one_lease_a_group(bench: Bench) {
    for member in 0..10 {
        for alias in ["one", "two", "three"] {
            let host = format!("h{member}.{alias}.example");
            bench.alias(&host, Some(alias));
            bench.add(&host, secs(0));
        }
    }
    for host in ["x.example", "y.example"] {
        bench.add(host, secs(0));
    }
    for _ in 0..5 {
        let store = bench.store();
        let leases = bench.wait(async {
            let mut tasks = tokio::task::JoinSet::new();
            for _ in 0..16 {
                let store = Arc::clone(&store);
                tasks.spawn(async move { store.reserve_next(secs(20)).await.unwrap() });
            }
            let mut leases = Vec::new();
            for reservation in tasks.join_all().await {
                if let Reservation::Leased(lease) = reservation {
                    leases.push(lease);
                }
            }
            leases
        });
        let group = |lease: &Lease| match &lease.alias {
            Some(alias) => alias.to_string(),
            None => lease.host.to_string(),
        };
        let groups: BTreeSet<_> = leases.iter().map(group).collect();
        assert_eq!((leases.len(), groups.len()), (5, 5));
        assert_eq!(bench.counts().busy_aliases, 3);
        for lease in &leases {
            assert_eq!(
                bench.release(lease, secs(0), Some(secs(0))),
                LeaseState::Current
            );
        }
    }
}

pub(crate) fn a_busy_group_of_101_starves_nobody(mut bench: Bench) {
    for number in 0..101 {
        let host = format!("h{number}.example");
        bench.alias(&host, Some("large"));
        bench.add(&host, secs(0));
    }
    bench.pass(1);
    bench.add("free.example", secs(0));
    let busy = match bench.reserve(secs(20)) {
        Reservation::Leased(lease) => lease,
        other => panic!("{other:?}"),
    };
    let free = bench.lease("free.example", secs(20));
    bench.release(&free, secs(0), Some(secs(0)));
    // A group in its pause does not delay others either.
    bench.release(&busy, secs(10), Some(secs(0)));
    bench.lease("free.example", secs(20));
}

pub(crate) fn groups_take_turns(mut bench: Bench) {
    for number in 0..5 {
        let host = format!("h{number}.example");
        bench.alias(&host, Some("large"));
        bench.add(&host, secs(0));
    }
    bench.add("one.example", secs(0));
    bench.add("two.example", secs(0));
    let mut turns = Vec::new();
    for _ in 0..9 {
        let Reservation::Leased(lease) = bench.reserve(secs(20)) else {
            panic!("three groups are due");
        };
        let name = lease
            .alias
            .as_ref()
            .map_or(lease.host.as_str(), |alias| alias.as_str());
        turns.push(name.to_owned());
        bench.release(&lease, millis(1), Some(secs(0)));
        bench.pass(1);
    }
    for turn in turns.chunks(3) {
        let groups: BTreeSet<_> = turn.iter().collect();
        assert_eq!(groups.len(), 3, "each group has its turn: {turns:?}");
    }
}

pub(crate) fn a_member_without_a_port_is_all_its_ports(bench: Bench) {
    bench.add("a.example:8080", secs(0));
    bench.alias("a.example", Some("pair"));
    bench.alias("a.example:9000", Some("other"));
    for host in [
        "a.example",
        "a.example:8081",
        "a.example:9000",
        "a.example.net:1",
    ] {
        bench.add(host, secs(0));
    }
    let alias_of = |lease: &Lease| lease.alias.as_ref().map(ToString::to_string);
    let mut seen = BTreeSet::new();
    loop {
        let mut leases = Vec::new();
        while let Reservation::Leased(lease) = bench.reserve(secs(20)) {
            seen.insert((lease.host.to_string(), alias_of(&lease)));
            leases.push(lease);
        }
        if leases.is_empty() {
            break;
        }
        for lease in leases {
            bench.release(&lease, secs(0), None);
        }
    }
    let expected = [
        ("a.example", Some("pair")),
        ("a.example.net:1", None),
        ("a.example:8080", Some("pair")),
        ("a.example:8081", Some("pair")),
        ("a.example:9000", Some("other")),
    ];
    let expected = expected.map(|(host, alias)| (host.to_owned(), alias.map(str::to_owned)));
    assert_eq!(seen, BTreeSet::from(expected));

    // A port that is no longer a member itself is one of all ports again.
    bench.alias("a.example:9000", None);
    bench.add("a.example:9000", secs(0));
    let lease = bench.lease("a.example:9000", secs(20));
    assert_eq!(alias_of(&lease).as_deref(), Some("pair"));
    bench.release(&lease, secs(0), None);
    bench.alias("a.example", None);
    bench.add("a.example:8080", secs(0));
    assert_eq!(alias_of(&bench.lease("a.example:8080", secs(20))), None);
}

pub(crate) fn an_alias_added_during_a_lease_waits_for_it(mut bench: Bench) {
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    bench.alias("b.example", Some("pair"));
    bench.add("b.example", secs(0));
    bench.alias("a.example", Some("pair"));
    assert_eq!(bench.counts().busy_aliases, 1);
    bench.waits(millis(20_001));
    assert_eq!(
        bench.release(&lease, secs(4), Some(secs(0))),
        LeaseState::Current
    );
    bench.waits(secs(4));
    bench.pass(4000);
    bench.lease("b.example", secs(20));
    bench.waits(millis(20_001));
}

pub(crate) fn an_alias_removed_during_a_lease_is_freed_by_its_end(mut bench: Bench) {
    for host in ["a.example", "b.example"] {
        bench.alias(host, Some("pair"));
        bench.add(host, secs(0));
    }
    let lease = bench.lease("a.example", secs(20));
    bench.alias("a.example", None);
    bench.waits(millis(20_001));
    bench.release(&lease, secs(4), Some(secs(0)));
    assert_eq!(bench.counts().busy_aliases, 0);
    bench.waits(secs(4));
    bench.pass(4000);
    // Each is a group of its own now.
    let reserved = [bench.reserve(secs(20)), bench.reserve(secs(20))];
    assert!(
        reserved
            .iter()
            .all(|lease| matches!(lease, Reservation::Leased(_)))
    );
    // The other worker may die, and the alias does not stay busy.
    bench.pass(20_001);
    assert_eq!(bench.reap(), 2);
    assert_eq!(bench.counts().busy_aliases, 0);
    bench.waits(DEFAULT_PAUSE.max(secs(4)) - secs(1));
}

pub(crate) fn an_alias_moved_during_a_lease_holds_both_until_its_end(mut bench: Bench) {
    for (host, alias, after) in [
        ("a.example", "old", 0),
        ("b.example", "old", 1),
        ("c.example", "new", 2),
    ] {
        bench.alias(host, Some(alias));
        bench.add(host, millis(after));
    }
    bench.pass(2);
    let first = bench.lease("a.example", secs(20));
    // The new group has a lease already: it goes on, and afterwards there is one at a time.
    let other = bench.lease("c.example", secs(20));
    bench.alias("a.example", Some("new"));
    assert_eq!(bench.counts().busy_aliases, 2);
    bench.release(&other, secs(0), Some(secs(0)));
    bench.waits(millis(20_001));
    bench.pass(20_001);
    assert_eq!(bench.reap(), 1);
    assert_eq!(bench.release(&first, secs(0), None), LeaseState::Ended);
    assert_eq!(bench.counts().busy_aliases, 0);
    bench.waits(DEFAULT_PAUSE);
    bench.pass(3000);
    let mut groups = BTreeSet::new();
    while let Reservation::Leased(lease) = bench.reserve(secs(20)) {
        assert!(groups.insert(lease.alias.map(|alias| alias.to_string())));
    }
    let expected = [Some("new".to_owned()), Some("old".to_owned())];
    assert_eq!(groups, BTreeSet::from(expected));
}

pub(crate) fn a_host_takes_its_pause_into_a_group(mut bench: Bench) {
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    bench.release(&lease, secs(9), None);
    bench.alias("a.example", Some("pair"));
    bench.alias("b.example", Some("pair"));
    bench.add("b.example", secs(0));
    bench.waits(secs(9));
    bench.pass(9000);
    let lease = bench.lease("b.example", secs(20));
    // A block still applies to the host alone.
    bench.block("b.example", secs(60));
    bench.release(&lease, secs(1), Some(secs(0)));
    bench.add("a.example", secs(0));
    bench.waits(secs(1));
    bench.pass(1000);
    bench.lease("a.example", secs(20));
}
