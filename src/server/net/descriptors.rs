//! Descriptors: how many connections the process has room for.
//!
//! A connection takes a file descriptor, and so do the table's files, a fetch and the operators. If
//! clients took the last one, no table could be reloaded while they stay. So the limit is raised as
//! far as allowed, and public connections get all but a reserve.

use std::num::NonZeroUsize;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::warn;

use super::listener::{Listener, REDIRECT_CONNECTIONS};

/// The reserve for everything but public connections: the operators' connections, and twice the
/// number observed open at once (listeners, the watch, a repository, the pipes of a fetch).
const RESERVE: u64 = 128;

/// The descriptors of a serving thread's runtime.
const OF_A_THREAD: u64 = 4;

/// Raises this process's limit of open files to what the given connections and serving threads
/// need, including those of the redirect to HTTPS if there is a listener for it. Returns how many
/// public connections there is room for: fewer, with a warning, if the limit cannot be raised that
/// far.
pub fn room_for(connections: u32, https_redirect: Option<&Listener>, threads: NonZeroUsize) -> u32 {
    let redirected = https_redirect.map_or(0, |_| REDIRECT_CONNECTIONS);
    let reserve = RESERVE + u64::from(redirected) + OF_A_THREAD * threads.get() as u64;
    let wanted = u64::from(connections) + reserve;
    let limit = raised_to(wanted);
    let room = room_within(limit, reserve, connections);
    if room < connections {
        warn!(
            limit,
            wanted,
            max_connections = connections,
            room,
            "the limit of open files is too low for the setting \"max connections\", serving fewer connections at once; \
             raise the hard limit (ulimit -Hn, LimitNOFILE= of systemd, the ulimit nofile of containers)"
        );
    }
    room
}

/// Returns the limit of open files, raised to `wanted` if it was lower and that is allowed.
fn raised_to(wanted: u64) -> u64 {
    // `None` means no limit.
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(now) = current.filter(|now| *now < wanted) else {
        return current.unwrap_or(u64::MAX);
    };
    let goal = maximum.map_or(wanted, |most| most.min(wanted));
    let raised = Rlimit {
        current: Some(goal),
        maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => goal,
        Err(_) => now,
    }
}

/// Returns how many connections fit into a limit; half of a limit that is too small for the
/// reserve.
fn room_within(limit: u64, reserve: u64, connections: u32) -> u32 {
    let room = limit - reserve.min(limit / 2);
    u32::try_from(room).map_or(connections, |room| room.clamp(1, connections))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_a_reserve() {
        assert_eq!(room_within(20_000, RESERVE, 10_000), 10_000);
        assert_eq!(room_within(10_128, RESERVE, 10_000), 10_000);
        assert_eq!(room_within(10_127, RESERVE, 10_000), 9_999);
        assert_eq!(room_within(1024, RESERVE, 10_000), 896);
        assert_eq!(room_within(u64::MAX, RESERVE, u32::MAX), u32::MAX);
    }

    #[test]
    fn finds_room_for_someone_within_any_limit() {
        assert_eq!(room_within(256, RESERVE, 10_000), 128);
        assert_eq!(room_within(64, RESERVE, 10_000), 32);
        assert_eq!(room_within(0, RESERVE, 10_000), 1);
    }
}
