//! The thread that checks links.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};
use tokio::time::{interval, sleep, timeout};
use tracing::{error, info, warn};

use super::{live_links, outages};
use crate::git::chain;
use crate::linkcheck::Checker;
use crate::server::reload::give_way;
use crate::server::state::{LinkChecks, Shared};

/// The name of the thread.
const NAME: &str = "linkcheck";

/// How long it may take at the end to cut off requests and to release their hosts. The leases of
/// others expire.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// How often hosts are counted.
const COUNTING: Duration = Duration::from_secs(5);

/// How soon a store is tried again that cannot be reached.
const OPENING: Duration = Duration::from_secs(5);

/// How long the checks pause after the store has failed.
const REST: Duration = Duration::from_secs(60);

/// A thread that checks links until this is stopped or dropped.
pub(crate) struct CheckThread {
    stop: watch::Sender<()>,
    ended: oneshot::Receiver<()>,
}

impl CheckThread {
    /// Starts to check the links of the live table, and of each that goes live later.
    ///
    /// # Errors
    ///
    /// Fails if no further thread can be started.
    pub(crate) fn start(checks: &Arc<LinkChecks>, shared: &Arc<Shared>) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        checks.read_on(runtime.handle().clone());
        let (stop, stopped) = watch::channel(());
        let (end, ended) = oneshot::channel();
        let (checks, shared) = (Arc::clone(checks), Arc::clone(shared));
        let run = move || {
            // The threads of its blocking pool inherit that.
            give_way();
            let beside = async {
                tokio::join!(
                    live_links::follow(&checks, &shared.live),
                    async { outages::report(checks.opened().await.outage()).await },
                    count_hosts(&checks),
                );
            };
            runtime.block_on(async {
                tokio::select! {
                    () = check(&checks, stopped) => {}
                    // Never ends on its own.
                    () = beside => {}
                }
            });
            // A look-up that is no longer awaited must not delay the end.
            runtime.shutdown_background();
            drop((checks, shared));
            let _ = end.send(());
        };
        thread::Builder::new().name(NAME.to_owned()).spawn(run)?;
        Ok(Self { stop, ended })
    }

    /// Stops the checks, and waits a moment for requests in flight.
    pub(crate) async fn stop(self) {
        drop(self.stop);
        let _ = timeout(LAST_MOMENT, self.ended).await;
    }
}

/// Checks links until the sender is dropped.
async fn check(checks: &LinkChecks, stop: watch::Receiver<()>) {
    let stopped = || {
        let mut stop = stop.clone();
        // Nothing is ever sent.
        async move { drop(stop.changed().await) }
    };
    let checker = tokio::select! {
        checker = opened(checks) => checker,
        () = stopped() => return,
    };
    let mut reported = None;
    loop {
        let aliases = tokio::select! {
            set = checker.set_aliases(&checks.members) => set,
            () = stopped() => return,
        };
        let ended = match aliases {
            Ok(()) => checker.watch(stopped()).await,
            Err(error) => Err(error),
        };
        let Err(error) = ended else { return };
        let error = chain(&error);
        if reported.as_ref() != Some(&error) {
            error!(error, "links are not being checked: their store has failed");
            reported = Some(error);
        }
        tokio::select! {
            () = sleep(REST) => {}
            () = stopped() => return,
        }
    }
}

/// Opens the store, as soon as it can be reached.
async fn opened(checks: &LinkChecks) -> Arc<Checker> {
    let mut reported = None;
    loop {
        match checks.open().await {
            Ok(checker) => {
                if reported.is_some() {
                    info!("link checks begin: their store can be reached");
                }
                return checker;
            }
            Err(error) => {
                let error = chain(&*error);
                if reported.as_ref() != Some(&error) {
                    warn!(error, "link checks wait until their store can be reached");
                    reported = Some(error);
                }
            }
        }
        sleep(OPENING).await;
    }
}

async fn count_hosts(checks: &LinkChecks) {
    let mut ticks = interval(COUNTING);
    loop {
        ticks.tick().await;
        checks.count_hosts().await;
    }
}
