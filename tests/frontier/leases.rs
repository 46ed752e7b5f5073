//! Leases of single hosts: when one is given, and how it ends.

use std::sync::Arc;

use waypost::frontier::{LeaseState, Reservation};

use crate::bench::{Bench, DEFAULT_PAUSE, millis, named, secs};

pub(crate) fn a_host_is_leased_exactly_when_it_is_due(mut bench: Bench) {
    bench.drained();
    bench.add("a.example", secs(5));
    bench.waits(secs(5));
    bench.pass(4999);
    bench.waits(millis(1));
    bench.pass(1);
    let lease = bench.lease("a.example", secs(20));
    assert_eq!(lease.time_left, secs(20));
    assert_eq!(lease.alias, None);
    assert_eq!(bench.counts().busy, 1);
}

pub(crate) fn adding_a_host_twice_keeps_the_earliest_time(mut bench: Bench) {
    bench.add("a.example", secs(5));
    bench.add("a.example", secs(2));
    bench.add("a.example", secs(9));
    bench.waits(secs(2));
    assert_eq!(bench.counts().queued, 1);
    bench.pass(2000);
    let lease = bench.lease("a.example", secs(20));
    bench.release(&lease, secs(0), None);
    bench.drained();
}

pub(crate) fn hosts_are_leased_in_the_order_in_which_they_are_due(mut bench: Bench) {
    bench.add("c.example", secs(1));
    bench.add("a.example", secs(3));
    bench.add("b.example", secs(2));
    bench.pass(10_000);
    for host in ["c.example", "b.example", "a.example"] {
        bench.lease(host, secs(20));
    }
}

pub(crate) fn ports_80_and_443_are_one_host(bench: Bench) {
    bench.add("a.example:80", secs(0));
    bench.add("a.example:443", secs(0));
    bench.add("A.example.", secs(0));
    let lease = bench.lease("a.example", secs(20));
    bench.release(&lease, secs(0), None);
    bench.drained();
}

pub(crate) fn a_release_rests_the_host_and_queues_its_next_work(mut bench: Bench) {
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    assert_eq!(
        bench.release(&lease, secs(5), Some(secs(2))),
        LeaseState::Current
    );
    bench.waits(secs(5));
    bench.pass(5000);
    let lease = bench.lease("a.example", secs(20));
    assert_eq!(lease.settings.pause, secs(5));
    bench.release(&lease, secs(2), Some(secs(7)));
    bench.waits(secs(7));
}

pub(crate) fn a_pause_outlives_draining(mut bench: Bench) {
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    bench.release(&lease, secs(5), None);
    bench.drained();
    bench.pass(1000);
    bench.add("a.example", secs(0));
    bench.waits(secs(4));
}

pub(crate) fn a_host_added_during_its_lease_is_queued_once_after_it(bench: Bench) {
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    bench.add("a.example", secs(0));
    let counts = bench.counts();
    assert_eq!(
        (counts.queued, counts.busy),
        (0, 1),
        "a host is queued or leased, never both"
    );
    bench.waits(millis(20_001));
    // The worker saw nothing more to do; what was added since is not lost.
    bench.release(&lease, secs(0), None);
    let lease = bench.lease("a.example", secs(20));
    bench.release(&lease, secs(0), None);
    bench.drained();
}

pub(crate) fn a_leased_host_without_work_is_not_queued_again(bench: Bench) {
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    assert_eq!(bench.release(&lease, secs(1), None), LeaseState::Current);
    bench.drained();
}

pub(crate) fn a_worker_with_an_error_gives_its_host_back(mut bench: Bench) {
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    bench.release(&lease, secs(1), Some(secs(0)));
    bench.waits(secs(1));
    bench.pass(1000);
    bench.lease("a.example", secs(20));
}

pub(crate) fn a_wrong_or_second_release_changes_nothing(mut bench: Bench) {
    bench.add("a.example", secs(0));
    bench.add("b.example", secs(1));
    let lease = bench.lease("a.example", secs(20));
    let mut wrong = lease.clone();
    wrong.token += 1;
    assert_eq!(
        bench.release(&wrong, secs(90), Some(secs(0))),
        LeaseState::Ended
    );
    wrong = lease.clone();
    wrong.host = named("b.example");
    assert_eq!(
        bench.release(&wrong, secs(90), Some(secs(0))),
        LeaseState::Ended
    );
    wrong.host = named("unknown.example");
    assert_eq!(
        bench.release(&wrong, secs(90), Some(secs(0))),
        LeaseState::Ended
    );
    assert_eq!(bench.counts().hosts, 2);
    bench.waits(secs(1));

    assert_eq!(bench.release(&lease, secs(2), None), LeaseState::Current);
    assert_eq!(
        bench.release(&lease, secs(90), Some(secs(0))),
        LeaseState::Ended
    );
    bench.pass(1000);
    let second = bench.lease("b.example", secs(20));
    bench.release(&second, secs(0), None);
    bench.drained();
}

pub(crate) fn a_late_release_frees_nothing_that_another_holds(mut bench: Bench) {
    for host in ["a.example", "b.example"] {
        bench.alias(host, Some("pair"));
        bench.add(host, secs(0));
    }
    let late = bench.lease("a.example", secs(20));
    bench.pass(20_001);
    // It has not been reaped yet, but it has ended.
    assert_eq!(
        bench.release(&late, secs(0), Some(secs(0))),
        LeaseState::Ended
    );
    assert_eq!(bench.counts().busy_aliases, 1);
    assert_eq!(bench.reap(), 1);
    bench.pass(3000);
    let other = bench.lease("b.example", secs(20));
    assert!(other.token > late.token);
    assert_eq!(
        bench.release(&late, secs(0), Some(secs(0))),
        LeaseState::Ended
    );
    assert_eq!(bench.renew(&late, secs(20)), LeaseState::Ended);
    let counts = bench.counts();
    assert_eq!((counts.queued, counts.busy, counts.busy_aliases), (1, 1, 1));
    bench.waits(millis(20_001));
    bench.release(&other, secs(0), None);
    let again = bench.lease("a.example", secs(20));
    bench.release(&late, secs(0), Some(secs(0)));
    bench.release(&again, secs(0), None);
    bench.drained();
}

pub(crate) fn a_renewal_counts_before_the_end_and_not_after_it(mut bench: Bench) {
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    bench.pass(20_000);
    assert_eq!(bench.renew(&lease, secs(20)), LeaseState::Current);
    bench.pass(20_000);
    assert_eq!(bench.reap(), 0);
    // A renewal never shortens a lease.
    assert_eq!(bench.renew(&lease, secs(5)), LeaseState::Current);
    assert_eq!(bench.renew(&lease, secs(1)), LeaseState::Current);
    bench.pass(5000);
    assert_eq!(bench.reap(), 0);
    bench.pass(1);
    assert_eq!(bench.renew(&lease, secs(20)), LeaseState::Ended);
    assert_eq!(bench.reap(), 1);
    assert_eq!(bench.renew(&lease, secs(20)), LeaseState::Ended);
    assert_eq!(bench.counts().busy, 0);
}

pub(crate) fn a_lease_is_reaped_after_its_end_and_once(mut bench: Bench) {
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    bench.pass(20_000);
    assert_eq!(bench.reap(), 0, "it is in time");
    bench.waits(millis(1));
    bench.pass(1);
    bench.waits(secs(1));
    assert_eq!(bench.reap(), 1);
    assert_eq!(bench.reap(), 0);
    bench.waits(DEFAULT_PAUSE);
    bench.pass(3000);
    let next = bench.lease("a.example", secs(20));
    // What was reaped before is not reaped out of the next lease.
    assert_eq!(bench.reap(), 0);
    assert_eq!(bench.release(&lease, secs(0), None), LeaseState::Ended);
    bench.release(&next, secs(0), None);
    bench.drained();
}

pub(crate) fn a_reaped_group_rests_for_its_own_pause(mut bench: Bench) {
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    bench.set_settings("a.example", secs(30), b"crawl-delay: 30");
    assert_eq!(bench.renew(&lease, secs(20)), LeaseState::Current);
    bench.pass(20_001);
    assert_eq!(bench.reap(), 1);
    bench.waits(secs(30));
}

pub(crate) fn a_lease_that_sent_nothing_keeps_the_pause(mut bench: Bench) {
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    bench.release(&lease, secs(30), Some(secs(0)));
    bench.pass(30_000);
    let lease = bench.lease("a.example", secs(20));
    bench.release(&lease, secs(0), Some(secs(0)));
    bench.lease("a.example", secs(20));
    bench.pass(20_001);
    assert_eq!(bench.reap(), 1);
    bench.waits(secs(30));
}

pub(crate) fn a_block_survives_releases_and_is_never_shortened(mut bench: Bench) {
    bench.add("a.example", secs(0));
    let lease = bench.lease("a.example", secs(20));
    bench.block("a.example", secs(60));
    assert_eq!(
        bench.release(&lease, secs(1), Some(secs(0))),
        LeaseState::Current
    );
    bench.block("a.example", secs(10));
    assert_eq!(bench.counts().blocked, 1);
    bench.waits(secs(60));
    bench.block("a.example", secs(70));
    bench.pass(60_000);
    bench.waits(secs(10));
    bench.pass(10_000);
    assert_eq!(bench.counts().blocked, 0);
    let lease = bench.lease("a.example", secs(20));
    bench.release(&lease, secs(1), None);
    bench.drained();
    // A host that was never added can be blocked, too.
    bench.block("b.example", secs(5));
    bench.drained();
    bench.add("b.example", secs(0));
    bench.waits(secs(5));
}

pub(crate) fn a_host_removed_during_its_lease_is_gone_after_it(mut bench: Bench) {
    bench.add("a.example", secs(0));
    bench.set_settings("a.example", secs(1), b"note");
    let lease = bench.lease("a.example", secs(20));
    bench.remove("a.example");
    bench.remove("unknown.example");
    assert_eq!(bench.counts().busy, 1);
    assert_eq!(bench.renew(&lease, secs(20)), LeaseState::Current);
    assert_eq!(
        bench.release(&lease, secs(4), Some(secs(0))),
        LeaseState::Current
    );
    bench.drained();
    // It is remembered for the length of its pause, and no longer.
    bench.reap();
    assert_eq!(bench.counts().hosts, 1);
    bench.add("a.example", secs(0));
    bench.waits(secs(4));
    bench.remove("a.example");
    bench.pass(4000);
    bench.reap();
    assert_eq!(bench.counts().hosts, 0);
    assert_eq!(bench.settings("a.example"), None);

    // Its worker may die instead.
    bench.add("a.example", secs(0));
    bench.lease("a.example", secs(20));
    bench.remove("a.example");
    bench.pass(20_001);
    assert_eq!(bench.reap(), 1);
    bench.drained();
    bench.pass(3000);
    bench.reap();
    assert_eq!(bench.counts().hosts, 0);
}

pub(crate) fn ten_thousand_leases_expire_at_once(mut bench: Bench) {
    // All at once, so that a store that writes does not do so ten thousand times.
    let store = bench.store();
    bench.wait(async {
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..10_000 {
            let store = Arc::clone(&store);
            tasks.spawn(async move {
                let host = named(&format!("h{number}.example"));
                store.add_host(&host, secs(0)).await.unwrap();
                let reserved = store.reserve_next(secs(20)).await.unwrap();
                assert!(matches!(reserved, Reservation::Leased(_)));
            });
        }
        tasks.join_all().await;
    });
    drop(store);
    assert_eq!(bench.counts().busy, 10_000);
    bench.pass(20_001);
    assert_eq!(bench.reap(), 10_000);
    assert_eq!(bench.reap(), 0);
    let counts = bench.counts();
    assert_eq!((counts.queued, counts.busy), (10_000, 0));
    bench.waits(DEFAULT_PAUSE);
}

pub(crate) fn time_goes_on_when_the_clock_goes_back(mut bench: Bench) {
    bench.add("a.example", secs(0));
    bench.add("b.example", secs(30));
    let lease = bench.lease("a.example", secs(20));
    bench.set_clock(-3_600_000);
    // Nothing lasts an hour longer, and nothing ends sooner.
    bench.waits(millis(20_001));
    bench.set_clock(-3_600_000 + 20_000);
    assert_eq!(bench.reap(), 0);
    assert_eq!(bench.renew(&lease, secs(1)), LeaseState::Current);
    bench.set_clock(-3_600_000 + 21_001);
    assert_eq!(bench.reap(), 1);
    bench.set_clock(-3_600_000 + 24_001);
    let next = bench.lease("a.example", secs(20));
    assert!(next.token > lease.token);
    bench.release(&next, secs(0), None);
    bench.waits(millis(5_999));
    bench.restart();
    bench.set_clock(-7_200_000);
    bench.reap();
    bench.set_clock(-7_200_000 + 5_999);
    bench.lease("b.example", secs(20));
}
