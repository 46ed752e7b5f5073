//! The pace of hooks, and of announcements by other replicas: the first one fetches immediately,
//! and all that arrive within a second after it cause one more fetch at the end of that second.
//!
//! Anyone who saw a hook can record it and send it again for as long as the secret stays the same.
//! So the cost of hooks is bounded here, regardless of their sender. A fetch for a hook is announced to
//! the other replicas, which take turns at the repository.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use crate::server::fleet::Fleet;
use crate::server::reload::Reloads;

/// The minimum time from one fetch requested by hooks to the next.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);

/// Passes on the requests of hooks, at that pace.
#[derive(Debug, Clone, Default)]
pub(crate) struct HookPace(Arc<Waiting>);

/// Each keeps one hint if the task is not listening yet, and no more than one.
#[derive(Debug, Default)]
struct Waiting {
    hooks: Notify,
    announcements: Notify,
}

impl HookPace {
    /// Requests a fetch soon, because of a hook.
    pub(crate) fn hint(&self) {
        self.0.hooks.notify_one();
    }

    /// Requests a fetch soon, because another replica announced something.
    pub(crate) fn announced(&self) {
        self.0.announcements.notify_one();
    }

    /// Passes on hints, forever.
    pub(crate) async fn pass_on(self, reloads: Reloads, interval: Duration, fleet: Option<Fleet>) {
        let turn = async || {
            if let Some(fleet) = &fleet {
                fleet.turn().await;
            }
        };
        loop {
            let is_hook = tokio::select! {
                biased;
                () = self.0.hooks.notified() => true,
                () = self.0.announcements.notified() => tokio::select! {
                    biased;
                    () = self.0.hooks.notified() => true,
                    () = turn() => false,
                },
            };
            if let Some(fleet) = fleet.as_ref().filter(|_| is_hook) {
                fleet.announce(None);
            }
            reloads.hint();
            sleep(interval).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::error::TryRecvError;
    use tokio::task::yield_now;

    use super::*;
    use crate::server::reload::channel;

    #[tokio::test]
    async fn the_first_is_passed_on_at_once_and_others_wait() {
        let (reloads, mut asked) = channel(None);
        let pace = HookPace::default();
        let hour = Duration::from_secs(3600);
        let passing = tokio::spawn(pace.clone().pass_on(reloads, hour, None));
        pace.hint();
        assert!(asked.recv().await.is_some());
        for _ in 0..100 {
            pace.hint();
            yield_now().await;
        }
        assert_eq!(asked.try_recv().err(), Some(TryRecvError::Empty));
        passing.abort();
    }

    #[tokio::test]
    async fn all_within_the_interval_are_one_at_its_end() {
        let (reloads, mut asked) = channel(None);
        let pace = HookPace::default();
        let passing = tokio::spawn(
            pace.clone()
                .pass_on(reloads, Duration::from_millis(1), None),
        );
        pace.hint();
        assert!(asked.recv().await.is_some());
        for _ in 0..100 {
            pace.hint();
        }
        assert!(asked.recv().await.is_some());
        // The task listens again after its interval; no other hint has arrived.
        for _ in 0..100 {
            yield_now().await;
        }
        assert_eq!(asked.try_recv().err(), Some(TryRecvError::Empty));
        passing.abort();
    }

    #[tokio::test]
    async fn announcements_and_hooks_share_the_pace() {
        let (reloads, mut asked) = channel(None);
        let pace = HookPace::default();
        let hour = Duration::from_secs(3600);
        let passing = tokio::spawn(pace.clone().pass_on(reloads, hour, None));
        pace.announced();
        assert!(asked.recv().await.is_some());
        for _ in 0..100 {
            pace.announced();
            pace.hint();
            yield_now().await;
        }
        assert_eq!(asked.try_recv().err(), Some(TryRecvError::Empty));
        passing.abort();
    }
}
