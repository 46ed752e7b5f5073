//! Following the live table: its links are checked, and their results are kept in memory.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::task::spawn_blocking;
use tokio::time::{Instant, Interval, interval_at, sleep};
use tracing::error;

use crate::frontier::StoreError;
use crate::git::chain;
use crate::linkcheck::Links;
use crate::mapping::Timestamp;
use crate::server::state::{LinkChecks, Live, Snapshot};

/// How many records are read at a time.
const BATCH: usize = 1024;

/// How often the findings of other workers are read from a store that is shared.
const RENEWAL: Duration = Duration::from_secs(600);

/// How soon, at the latest, links are dropped that have expired since their table went live.
const AGE: Duration = Duration::from_secs(86_400);

/// Follows the live table, forever.
pub(super) async fn follow(checks: &Arc<LinkChecks>, live: &Live) {
    let mut renewals = interval_at(Instant::now() + RENEWAL, RENEWAL);
    loop {
        tokio::select! {
            () = live.swapped() => {}
            () = sleep(AGE) => {}
            () = renew(checks, &mut renewals) => {}
        }
        let Some(snapshot) = live.load_full() else {
            continue;
        };
        let began = Instant::now();
        if let Err(error) = take_up(checks, snapshot).await {
            let error = chain(&error);
            error!(error, "not all links of the live table are checked");
        }
        // Tables that go live one after the other take half of this thread's time at most.
        sleep(began.elapsed()).await;
    }
}

/// Has the links of a table checked, and loads the results of its new links.
async fn take_up(checks: &LinkChecks, snapshot: Arc<Snapshot>) -> Result<(), StoreError> {
    let known = Arc::clone(&checks.known);
    let listing = spawn_blocking(move || {
        let now = Timestamp::from(SystemTime::now());
        let links = Links::of(&snapshot.table, now, |_| true);
        known.replace(&links);
        links
    });
    let links = listing
        .await
        .map_err(|error| StoreError::Failed(error.into()))?;
    let checker = checks.opened().await;
    // This also restores the results of links that were in an earlier table.
    checker.set_links(links).await?;
    let links = checker.links();
    let mut lacking = links.urls().filter(|url| checks.known.lacks(url));
    loop {
        let batch: Vec<_> = lacking.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return Ok(());
        }
        let lacking: Vec<_> = batch.iter().map(|url| &**url).collect();
        let records = checker.records(&lacking).await?;
        for (url, record) in lacking.into_iter().zip(records) {
            if let Some(record) = record {
                checks.known.recall(url, &record);
            }
        }
    }
}

/// Reads at each tick what other workers have found, if there are any; forever.
async fn renew(checks: &LinkChecks, ticks: &mut Interval) {
    loop {
        ticks.tick().await;
        let checker = checks.opened().await;
        if !checker.is_shared() {
            continue;
        }
        let links = checker.links();
        let mut all = links.urls();
        loop {
            let batch: Vec<_> = all.by_ref().take(BATCH).collect();
            let urls: Vec<_> = batch.iter().map(|url| &**url).collect();
            if urls.is_empty() {
                break;
            }
            // If this fails, it is repeated at the next tick.
            let Ok(records) = checker.records(&urls).await else {
                break;
            };
            for (url, record) in urls.into_iter().zip(records) {
                if let Some(record) = record {
                    checks.known.renew(url, &record);
                }
            }
        }
    }
}
