//! The pace of hooks: the first one fetches at once, and all that come within a second after it are
//! one more fetch at the end of that second.
//!
//! A hook can be recorded and sent again for as long as the secret stays the same, by anyone who saw
//! it. So what hooks can cost is bounded here, whoever sends them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use crate::server::reload::Reloads;

/// How long after a fetch the next one that hooks ask for begins, at least.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);

/// Passes on what hooks ask for, at that pace.
#[derive(Debug, Clone, Default)]
pub(crate) struct HookPace(Arc<Notify>);

impl HookPace {
    /// Asks for a fetch, soon.
    pub(crate) fn hint(&self) {
        // It keeps one hint for whoever is not listening yet, and no more than one.
        self.0.notify_one();
    }

    /// Passes on hints, for ever.
    pub(crate) async fn pass_on(self, reloads: Reloads, interval: Duration) {
        loop {
            self.0.notified().await;
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
        let (reloads, mut asked) = channel();
        let pace = HookPace::default();
        let hour = Duration::from_secs(3600);
        let passing = tokio::spawn(pace.clone().pass_on(reloads, hour));
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
        let (reloads, mut asked) = channel();
        let pace = HookPace::default();
        let passing = tokio::spawn(pace.clone().pass_on(reloads, Duration::from_millis(1)));
        pace.hint();
        assert!(asked.recv().await.is_some());
        for _ in 0..100 {
            pace.hint();
        }
        assert!(asked.recv().await.is_some());
        // The task listens again once it has let its interval pass; nothing more has come for it.
        for _ in 0..100 {
            yield_now().await;
        }
        assert_eq!(asked.try_recv().err(), Some(TryRecvError::Empty));
        passing.abort();
    }
}
