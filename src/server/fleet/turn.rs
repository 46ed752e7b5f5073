//! Turns at the repository, so that a fleet in which a push is announced does not overload the Git host.
//!
//! A replica that receives a hook, a registration or a reload fetches without a turn. The others
//! take turns: 15 immediately, and then 15 a second, which is the rate of reading that GitHub
//! recommends for one repository. So 20 replicas have fetched after 0.4 s, and 100 after 6 s.

use std::time::Duration;

use super::engine::Fleet;

/// How many turns are given immediately.
const AT_ONCE: u32 = 15;

/// The time from one turn to the next.
const INTERVAL: Duration = Duration::from_millis(67);

/// The longest wait: a table that is known to be old must not stay until the next poll.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The time over which fetches are spread if there are no turns.
const SPREAD: Duration = Duration::from_secs(1);

impl Fleet {
    /// Waits for a turn at the repository.
    pub(crate) async fn turn(&self) {
        let fleet = self.clone();
        let taking = self.with_server(async move {
            let engine = fleet.engine();
            let interval = INTERVAL.as_millis().to_string();
            let (at_once, script) = (AT_ONCE.to_string(), &engine.scripts.take_turn);
            let arguments = [&*interval, &*at_once].map(str::as_bytes);
            engine
                .run::<u64>(script, engine.key("turn"), &arguments)
                .await
        });
        let pause = match taking.await {
            Some(millis) => Duration::from_millis(millis).min(MAX_WAIT),
            None => spread(&self.engine().own),
        };
        tokio::time::sleep(pause).await;
    }
}

/// Returns a replica's part of the time over which fetches are spread.
fn spread(own: &str) -> Duration {
    let share = own.bytes().rev().take(2).fold(0, |share, byte| {
        16 * share + char::from(byte).to_digit(16).unwrap_or_default()
    });
    SPREAD * share / 256
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_spread_evenly_without_turns() {
        assert_eq!(spread("0000000000000000"), Duration::ZERO);
        assert_eq!(spread("0000000000000008"), SPREAD / 2);
        assert!(spread("ffffffffffffffff") < SPREAD);
    }
}
