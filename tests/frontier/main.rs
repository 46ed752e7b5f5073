//! One conformance suite over every store of hosts to be requested.
//!
//! Each scenario runs on each store. The store that workers share needs a server, so `cargo test`
//! reports its tests as ignored; `tests/e2e/frontier` starts one and runs them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(feature = "valkey")]
#[path = "../support/redis_server.rs"]
mod redis_server;

mod bench;
mod engines;
mod files;
mod groups;
mod killed;
mod leases;
mod model;
#[cfg(feature = "valkey")]
mod permissions;
mod restarts;
#[cfg(feature = "valkey")]
mod server;
mod simulation;

/// Declares a test of each scenario for one kind of store.
macro_rules! suite {
    ($(#[$attribute:meta])* $name:ident, $engine:expr) => {
        mod $name {
            use crate::bench::Bench;
            use crate::{groups, leases, restarts, simulation};

            suite! {
                @scenarios [$(#[$attribute])*] $engine;
                leases::a_host_is_leased_exactly_when_it_is_due,
                leases::adding_a_host_twice_keeps_the_earliest_time,
                leases::hosts_are_leased_in_the_order_in_which_they_are_due,
                leases::ports_80_and_443_are_one_host,
                leases::a_release_rests_the_host_and_queues_its_next_work,
                leases::a_pause_outlives_draining,
                leases::a_host_added_during_its_lease_is_queued_once_after_it,
                leases::a_leased_host_without_work_is_not_queued_again,
                leases::a_worker_with_an_error_gives_its_host_back,
                leases::a_wrong_or_second_release_changes_nothing,
                leases::a_late_release_frees_nothing_that_another_holds,
                leases::a_renewal_counts_before_the_end_and_not_after_it,
                leases::a_lease_is_reaped_after_its_end_and_once,
                leases::a_reaped_group_rests_for_its_own_pause,
                leases::a_lease_that_sent_nothing_keeps_the_pause,
                leases::a_block_survives_releases_and_is_never_shortened,
                leases::a_host_removed_during_its_lease_is_gone_after_it,
                leases::ten_thousand_leases_expire_at_once,
                leases::time_goes_on_when_the_clock_goes_back,
                groups::an_alias_has_one_lease_and_one_pause,
                groups::parallel_reserves_give_one_lease_a_group,
                groups::a_busy_group_of_101_starves_nobody,
                groups::groups_take_turns,
                groups::a_member_without_a_port_is_all_its_ports,
                groups::an_alias_added_during_a_lease_waits_for_it,
                groups::an_alias_removed_during_a_lease_is_freed_by_its_end,
                groups::an_alias_moved_during_a_lease_holds_both_until_its_end,
                groups::a_host_takes_its_pause_into_a_group,
                restarts::a_worker_may_die_after_each_step,
                restarts::a_process_may_die_after_each_step,
                restarts::two_of_three_workers_die,
                restarts::a_restart_keeps_pauses_blocks_and_settings,
                restarts::a_restart_ends_leases_with_a_full_pause,
                simulation::two_workers_drain_the_queue_though_one_release_is_forgotten,
            }

            #[test]
            $(#[$attribute])*
            fn random_operations_agree_with_the_model() {
                crate::model::agrees(|| Bench::new(Box::new($engine)));
            }
        }
    };
    (@scenarios $attributes:tt $engine:expr; $($module:ident::$scenario:ident,)+) => {
        $(suite! { @scenario $attributes $engine; $module::$scenario })+
    };
    (@scenario [$(#[$attribute:meta])*] $engine:expr; $module:ident::$scenario:ident) => {
        #[test]
        $(#[$attribute])*
        fn $scenario() {
            $module::$scenario(Bench::new(Box::new($engine)));
        }
    };
}

suite!(memory, crate::engines::InMemory::default());
suite!(redb, crate::engines::InFile::default());
#[cfg(feature = "valkey")]
suite!(
    #[ignore = "needs a server, which tests/e2e/frontier starts"]
    valkey,
    crate::engines::OnServer::default()
);
