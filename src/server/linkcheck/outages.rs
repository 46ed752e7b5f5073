//! Reporting that the store of link checks is unavailable, and that it is back: once each.

use std::future::pending;
use std::sync::Arc;

use tokio::sync::watch;
use tracing::{info, warn};

use crate::frontier::StoreError;
use crate::git::chain;

/// Logs outages as they begin and end, forever.
pub(super) async fn report(mut outages: watch::Receiver<Option<Arc<StoreError>>>) {
    let mut is_out = false;
    loop {
        let outage = outages.borrow_and_update().clone();
        match &outage {
            Some(error) if !is_out => {
                let error = chain(&**error);
                warn!(error, "link checks wait until their store can be reached");
            }
            None if is_out => info!("link checks continue: their store can be reached again"),
            _ => {}
        }
        is_out = outage.is_some();
        if outages.changed().await.is_err() {
            pending::<()>().await;
        }
    }
}
