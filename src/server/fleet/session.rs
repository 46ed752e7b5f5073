//! The session with the server: it subscribes to the announcements, checks that the server answers and
//! can be written to, and reconnects if it does not.

use std::convert::Infallible;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::announcement::Announcement;
use super::engine::{Fleet, LIMITS};
use super::health::Direction;
use crate::valkey::{CallError, Subscription};

/// How often the server is checked.
const CHECK: Duration = Duration::from_secs(2);

/// How soon a lost session is started again.
const RETRY: Duration = Duration::from_secs(1);

impl Fleet {
    /// Keeps a session with the server, forever; passes on what the other replicas announce.
    pub(crate) async fn run(&self, on_announcement: impl Fn(Announcement)) {
        self.ask_on(Handle::current());
        let mut is_first = true;
        loop {
            let ended = self.session(&on_announcement, &mut is_first).await;
            let health = &self.engine().health;
            health.set_subscribed(false);
            health.checked(&ended.map(|never| match never {}));
            sleep(RETRY).await;
        }
    }

    async fn session(
        &self,
        on_announcement: &impl Fn(Announcement),
        is_first: &mut bool,
    ) -> Result<Infallible, CallError> {
        let engine = self.engine();
        let channel = engine.key("look");
        let mut messages = Subscription::open(&engine.address, &channel, LIMITS).await?;
        engine.health.set_subscribed(true);
        if !std::mem::take(is_first) {
            // Something may have been announced meanwhile.
            on_announcement(Announcement::default());
        }
        let mut checks = interval(CHECK);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                message = messages.next() => {
                    let announcement = Announcement::read(&message?);
                    if announcement.from != engine.own {
                        engine.health.count(Direction::Received);
                        on_announcement(announcement);
                    }
                    continue;
                }
                // The first tick is immediate.
                _ = checks.tick() => {}
                () = engine.health.doubted() => {}
            }
            messages.check().await?;
            engine.health.checked(&self.probe().await);
            self.announce_again();
        }
    }

    /// Checks that the server can be written to, and permits what the other scripts do.
    async fn probe(&self) -> Result<(), CallError> {
        let engine = self.engine();
        let probe = || engine.try_run::<u64>(&engine.scripts.probe, engine.key("probe"), &[]);
        match probe().await {
            // On a connection that was made before the server restarted, the first operation fails.
            Err(CallError::Unavailable(_)) => probe().await.map(drop),
            probed => probed.map(drop),
        }
    }
}
