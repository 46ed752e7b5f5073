//! The state shared by the visits of one check: the store, the client, the links, and the progress.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::{Mutex, MutexGuard, Notify, watch};

use super::counts::CheckCounts;
use super::link_key::LinkKey;
use super::links::Links;
use super::millis::{millis, seconds};
use super::options::CheckOptions;
use super::requester::Requester;
use crate::frontier::{Clock, HostCounts, StoreError};
use crate::linkcheck::check::state::{CheckState, Space, StateAccess, decoded};
use crate::linkcheck::conclude::LinkRecord;
use crate::mapping::Timestamp;

/// Called with each URL that was checked, with its previous and its new record.
type LinkObserver = dyn Fn(&str, Option<&LinkRecord>, &LinkRecord) + Send + Sync;

/// Checks the links of a table.
pub struct Checker {
    access: StateAccess,
    requester: Arc<dyn Requester>,
    clock: Arc<dyn Clock>,
    links: ArcSwap<Links>,
    options: CheckOptions,
    observer: Option<Box<LinkObserver>>,
    pub(super) counts: CheckCounts,
    /// The links that were the last to be queued completely.
    queued_links: Mutex<Option<Arc<Links>>>,
    /// Notified when links are queued by anything but a visit.
    pub(crate) queued: Notify,
}

impl Checker {
    /// Returns a checker of links; `clock` is that of the state.
    pub fn new(
        state: Arc<dyn CheckState>,
        requester: Arc<dyn Requester>,
        clock: Arc<dyn Clock>,
        links: Links,
        options: CheckOptions,
    ) -> Self {
        Self {
            access: StateAccess::new(state),
            requester,
            clock,
            links: ArcSwap::from_pointee(links),
            options,
            observer: None,
            counts: CheckCounts::default(),
            queued_links: Mutex::default(),
            queued: Notify::new(),
        }
    }

    /// Passes on each conclusion of this checker, once it is stored: the URL, its previous record,
    /// and its new one. The observer must not wait.
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

    /// Replaces the links, even while they are checked: new ones are queued immediately; removed
    /// ones are not requested again, and their records are kept. Only the records of new ones are
    /// read.
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

    /// Returns the record of a URL.
    ///
    /// # Errors
    ///
    /// If the state cannot be read.
    pub async fn record(&self, url: &str) -> Result<Option<LinkRecord>, StoreError> {
        Ok(self.records(&[url]).await?.pop().flatten())
    }

    /// Returns the records of URLs, in their order; some thousand at a time.
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

    /// Returns a channel with the reason why the state cannot be reached: all operations wait until
    /// it can be reached again.
    pub fn outage(&self) -> watch::Receiver<Option<Arc<StoreError>>> {
        self.access.outage()
    }

    /// Returns the time.
    pub fn time(&self) -> Timestamp {
        Timestamp::from_unix(seconds(self.now()))
    }

    /// Returns the links that were the last to be queued completely; while the guard is held,
    /// nothing else queues links.
    pub(crate) async fn queued_links(&self) -> MutexGuard<'_, Option<Arc<Links>>> {
        self.queued_links.lock().await
    }

    pub(crate) fn options(&self) -> &CheckOptions {
        &self.options
    }

    pub(crate) fn access(&self) -> &StateAccess {
        &self.access
    }

    pub(crate) fn requester(&self) -> &dyn Requester {
        &*self.requester
    }

    /// Returns the milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        millis(self.clock.now())
    }
}
