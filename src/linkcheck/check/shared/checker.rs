//! What the visits of one check share: the state, the asker, the links, and how far the check has come.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::{Mutex, MutexGuard, Notify, watch};

use super::asker::Ask;
use super::counts::Counts;
use super::link_key::LinkKey;
use super::links::Links;
use super::millis::{millis, seconds};
use super::options::CheckOptions;
use crate::frontier::{Clock, HostCounts, StoreError};
use crate::linkcheck::check::state::{CheckState, Space, StateAccess, decoded};
use crate::linkcheck::conclude::LinkRecord;
use crate::mapping::Timestamp;

/// Is given each URL that was checked, with what was known of it and what is known now.
type Observer = dyn Fn(&str, Option<&LinkRecord>, &LinkRecord) + Send + Sync;

/// Checks the links of a table.
pub struct Checker {
    access: StateAccess,
    asker: Arc<dyn Ask>,
    clock: Arc<dyn Clock>,
    links: ArcSwap<Links>,
    options: CheckOptions,
    observer: Option<Box<Observer>>,
    pub(super) counts: Counts,
    /// The links that were the last to be queued completely.
    queued_links: Mutex<Option<Arc<Links>>>,
    /// Notified when links are queued by anything but a visit.
    pub(crate) queued: Notify,
}

impl Checker {
    /// Returns a checker of links; `clock` is that of the state.
    pub fn new(
        state: Arc<dyn CheckState>,
        asker: Arc<dyn Ask>,
        clock: Arc<dyn Clock>,
        links: Links,
        options: CheckOptions,
    ) -> Self {
        Self {
            access: StateAccess::new(state),
            asker,
            clock,
            links: ArcSwap::from_pointee(links),
            options,
            observer: None,
            counts: Counts::default(),
            queued_links: Mutex::default(),
            queued: Notify::new(),
        }
    }

    /// Has each conclusion of this checker passed on, once it is kept: the URL that was asked, what was
    /// known of it before, and what is known now. It must not wait.
    #[must_use]
    pub fn with_observer(
        mut self,
        observer: impl Fn(&str, Option<&LinkRecord>, &LinkRecord) + Send + Sync + 'static,
    ) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Returns whether other workers may use the state, too.
    pub fn is_shared(&self) -> bool {
        self.access.is_shared()
    }

    /// Passes a conclusion on.
    pub(crate) fn concluded(&self, url: &str, before: Option<&LinkRecord>, after: &LinkRecord) {
        if let Some(observer) = &self.observer {
            observer(url, before, after);
        }
    }

    /// Returns the links that are checked.
    pub fn links(&self) -> Arc<Links> {
        self.links.load_full()
    }

    /// Replaces the links, also while they are checked: new ones are queued at once; those that it
    /// has no more are not asked again, and what is known of them is kept. The state is asked about
    /// new ones only.
    ///
    /// # Errors
    ///
    /// If the state cannot be read or written. The links are replaced even so, but new ones may
    /// be left out until the links are replaced again, or until the next run.
    pub async fn set_links(&self, links: Links) -> Result<(), StoreError> {
        self.links.store(Arc::new(links));
        self.queue_new_links().await?;
        self.queued.notify_one();
        Ok(())
    }

    /// Returns what is known of a URL that is asked.
    ///
    /// # Errors
    ///
    /// If the state cannot be read.
    pub async fn record(&self, url: &str) -> Result<Option<LinkRecord>, StoreError> {
        Ok(self.records(&[url]).await?.pop().flatten())
    }

    /// Returns what is known of URLs that are asked, in their order; some thousand at a time.
    ///
    /// # Errors
    ///
    /// If the state cannot be read.
    pub async fn records(&self, urls: &[&str]) -> Result<Vec<Option<LinkRecord>>, StoreError> {
        let keys: Vec<_> = urls.iter().map(|url| LinkKey::of(url).into()).collect();
        let rows = self.access.get(Space::Links, &keys).await?;
        let record = |row: Option<Vec<u8>>| match row {
            Some(bytes) => decoded::<Option<LinkRecord>>(&bytes),
            None => Ok(None),
        };
        rows.into_iter().map(record).collect()
    }

    /// Counts hosts by their state; an error if the state cannot be reached now.
    ///
    /// # Errors
    ///
    /// If the state cannot be read.
    pub async fn hosts(&self) -> Result<HostCounts, StoreError> {
        self.access.counts().await
    }

    /// Returns why the state cannot be reached, as that changes: all that needs it waits until it can
    /// be reached again.
    pub fn outage(&self) -> watch::Receiver<Option<Arc<StoreError>>> {
        self.access.outage()
    }

    /// Returns the time.
    pub fn time(&self) -> Timestamp {
        Timestamp::from_unix(seconds(self.now()))
    }

    /// Returns the links that were the last to be queued completely; while this is held, nothing else
    /// queues links.
    pub(crate) async fn queued_links(&self) -> MutexGuard<'_, Option<Arc<Links>>> {
        self.queued_links.lock().await
    }

    pub(crate) fn options(&self) -> &CheckOptions {
        &self.options
    }

    pub(crate) fn access(&self) -> &StateAccess {
        &self.access
    }

    pub(crate) fn asker(&self) -> &dyn Ask {
        &*self.asker
    }

    /// Returns the milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        millis(self.clock.now())
    }
}
