//! Link checking against a farm of fake hosts, and of tables on each kind of state.
//!
//! The state that workers share needs a server, so `cargo test` reports its tests as ignored;
//! `tests/e2e/frontier` starts one and runs them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/farm/mod.rs"]
mod farm;

#[cfg(feature = "valkey")]
#[path = "../support/redis_server.rs"]
mod redis_server;

mod archives;
mod checking;
mod command;
mod engines;
mod fixing;
mod fixture;
#[path = "../support/git.rs"]
mod git;
mod inquiries;
mod interposed;
mod population;
mod reaching;
mod requests;
#[cfg(feature = "valkey")]
mod sharing;
mod truth;
mod watching;
mod web;

/// Declares a test of each scenario on one kind of state.
macro_rules! suite {
    ($(#[$attribute:meta])* $name:ident, $engine:path) => {
        mod $name {
            suite! {
                @scenarios [$(#[$attribute])*] $engine;
                checking::each_target_gets_its_verdict_politely,
                checking::a_link_is_dead_after_three_strikes_over_days,
                checking::members_of_an_alias_take_turns,
                checking::a_robots_txt_elsewhere_is_waited_for,
                checking::a_crawl_delay_counts_from_the_robots_txt_on,
                checking::a_crawl_delay_counts_also_if_the_robots_txt_is_elsewhere,
                checking::a_robots_txt_that_fails_is_fetched_again_soon,
                checking::a_host_that_accepts_any_name_is_not_believed,
                checking::no_check_waits_for_a_long_block,
                checking::a_check_ends_in_time_and_the_next_one_goes_on,
                watching::a_check_that_is_stopped_releases_its_hosts,
                watching::an_observer_is_notified_of_what_is_written,
                watching::each_conclusion_is_passed_on_with_what_was_known_before,
                watching::the_time_left_is_that_of_the_slowest_host,
                watching::requests_are_counted_by_their_result,
                watching::a_check_waits_for_a_state_that_cannot_be_reached,
                watching::a_check_can_be_stopped_while_its_state_cannot_be_reached,
                watching::what_was_not_due_before_an_answer_may_be_due_after_it,
                watching::visits_that_end_at_once_lose_nothing_that_the_other_one_wrote,
                watching::a_check_that_goes_on_follows_the_table_and_asks_again,
            }
        }
    };
    (@scenarios $attributes:tt $engine:path; $($module:ident::$scenario:ident,)+) => {
        $(suite! { @scenario $attributes $engine; $module::$scenario })+
    };
    (@scenario [$(#[$attribute:meta])*] $engine:path; $module:ident::$scenario:ident) => {
        #[tokio::test]
        $(#[$attribute])*
        async fn $scenario() {
            crate::$module::$scenario($engine().await).await;
        }
    };
}

suite!(memory, crate::engines::in_memory);
suite!(redb, crate::engines::in_file);
#[cfg(feature = "valkey")]
suite!(
    #[ignore = "needs a server, which tests/e2e/frontier starts"]
    valkey,
    crate::engines::on_server
);
