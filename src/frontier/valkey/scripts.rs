//! The operations as scripts, each atomic on the server.
//!
//! Scripts instead of a library of functions: every version of the server supports them, no worker
//! replaces a library that another has loaded, and a server that has lost them gets them again.

use redis::Script;

/// The keys, in the order in which the scripts have them; the last is only read by tests.
const KEYS: [&str; 13] = [
    "meta",
    "hosts",
    "aliases",
    "held",
    "members",
    "ports",
    "ready",
    "queue",
    "leased",
    "blocked",
    "removed",
    "wanted",
    "test-time",
];

/// One script for each operation.
pub(super) struct Scripts {
    pub(super) open: Script,
    pub(super) add_host: Script,
    pub(super) remove_host: Script,
    pub(super) set_alias: Script,
    pub(super) reserve_next: Script,
    pub(super) release: Script,
    pub(super) renew: Script,
    pub(super) block: Script,
    pub(super) set_settings: Script,
    pub(super) settings: Script,
    pub(super) reap: Script,
    pub(super) due: Script,
    pub(super) counts: Script,
    pub(super) write: Script,
    pub(super) get_rows: Script,
    pub(super) first_rows: Script,
}

/// The clock of the scripts.
#[derive(Clone, Copy)]
pub(super) enum Time {
    /// The server's.
    Server,
    /// A key that a test sets.
    Test,
}

impl Scripts {
    pub(super) fn new(time: Time) -> Self {
        let time = match time {
            Time::Server => include_str!("lua/time.lua"),
            Time::Test => include_str!("lua/test_time.lua"),
        };
        let schedule = include_str!("lua/schedule.lua");
        let script = |operation: &str| Script::new(&format!("{time}\n{schedule}\n{operation}"));
        Self {
            open: script(include_str!("lua/open.lua")),
            add_host: script(include_str!("lua/add_host.lua")),
            remove_host: script(include_str!("lua/remove_host.lua")),
            set_alias: script(include_str!("lua/set_alias.lua")),
            reserve_next: script(include_str!("lua/reserve_next.lua")),
            release: script(include_str!("lua/release.lua")),
            renew: script(include_str!("lua/renew.lua")),
            block: script(include_str!("lua/block.lua")),
            set_settings: script(include_str!("lua/set_settings.lua")),
            settings: script(include_str!("lua/settings.lua")),
            reap: script(include_str!("lua/reap.lua")),
            due: script(include_str!("lua/due.lua")),
            counts: script(include_str!("lua/counts.lua")),
            write: script(include_str!("lua/write.lua")),
            // It needs neither the time nor the hosts.
            get_rows: Script::new(include_str!("lua/get_rows.lua")),
            first_rows: script(include_str!("lua/first_rows.lua")),
        }
    }
}

/// Returns the keys of a shard, which a cluster keeps on one server, because it hashes only the
/// part in braces.
pub(super) fn keys(shard: &str) -> Vec<String> {
    KEYS.iter()
        .map(|key| format!("{{{shard}}}:{key}"))
        .collect()
}
