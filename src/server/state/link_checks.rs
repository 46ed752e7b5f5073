//! The results of link checks in memory, if the server checks its links.

use std::error::Error;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::frontier::{AliasName, Clock, Host, HostCounts};
use crate::linkcheck::{
    CheckOptions, CheckState, Checker, KnownLinks, LinkRecord, LinkSummary, Links, RequestResult,
    Requester, VerdictCounts,
};
use crate::mapping::Entry;

/// How long reading the store may take, which waits while the store is unavailable. Meanwhile a
/// download occupies its slot.
const READING: Duration = Duration::from_secs(2);

/// A state, and its clock.
type OpenState = (Arc<dyn CheckState>, Arc<dyn Clock>);

/// A state that is being opened, or why it cannot be.
pub type OpeningState =
    Pin<Box<dyn Future<Output = Result<OpenState, Box<dyn Error + Send + Sync>>> + Send>>;

/// The store of link checks.
#[derive(Clone)]
pub enum LinkStore {
    /// An open state, with its clock.
    Open(Arc<dyn CheckState>, Arc<dyn Clock>),
    /// One that cannot be reached yet: it is opened once that is possible.
    Later(Arc<dyn Fn() -> OpeningState + Send + Sync>),
}

/// The parts needed for checking links.
#[derive(Clone)]
pub struct LinkChecking {
    /// The store of the results.
    pub store: LinkStore,
    /// The client that sends requests to hosts.
    pub requester: Arc<dyn Requester>,
    /// How links are checked.
    pub options: CheckOptions,
    /// The hosts that share an allowance.
    pub members: Vec<(Host, AliasName)>,
}

impl fmt::Debug for LinkChecking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkChecking").finish_non_exhaustive()
    }
}

/// The results of the checks of the live links.
pub(crate) struct LinkChecks {
    /// Present once the store is open.
    checker: watch::Sender<Option<Arc<Checker>>>,
    store: LinkStore,
    requester: Arc<dyn Requester>,
    options: CheckOptions,
    /// Read by requests, without a lock and without I/O.
    pub(crate) known: Arc<KnownLinks>,
    pub(crate) members: Vec<(Host, AliasName)>,
    /// The last count of hosts.
    hosts: Mutex<HostCounts>,
    /// The runtime of the store's connections, which must not be on serving threads.
    runtime: OnceLock<Handle>,
}

impl LinkChecks {
    /// Returns the link checks with these parts; there are no links yet.
    pub(crate) fn new(checking: LinkChecking) -> Self {
        let LinkChecking {
            store,
            requester,
            options,
            members,
        } = checking;
        Self {
            checker: watch::Sender::default(),
            store,
            requester,
            options,
            known: Arc::default(),
            members,
            hosts: Mutex::default(),
            runtime: OnceLock::new(),
        }
    }

    /// Opens the store, if that is possible now.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be reached yet.
    pub(crate) async fn open(&self) -> Result<Arc<Checker>, Box<dyn Error + Send + Sync>> {
        let (state, clock) = match &self.store {
            LinkStore::Open(state, clock) => (Arc::clone(state), Arc::clone(clock)),
            LinkStore::Later(open) => open().await?,
        };
        let requester = Arc::clone(&self.requester);
        let checker = Checker::new(state, requester, clock, Links::default(), self.options);
        let known = Arc::clone(&self.known);
        let observer = move |url: &str, _: Option<&LinkRecord>, record: &LinkRecord| {
            known.observe(url, record);
        };
        let checker = Arc::new(checker.with_observer(observer));
        self.checker.send_replace(Some(Arc::clone(&checker)));
        Ok(checker)
    }

    /// Returns the checker, if the store is open.
    fn checker(&self) -> Option<Arc<Checker>> {
        self.checker.borrow().clone()
    }

    /// Returns the checker once the store is open.
    pub(crate) async fn opened(&self) -> Arc<Checker> {
        let mut opening = self.checker.subscribe();
        loop {
            if let Some(checker) = opening.borrow_and_update().clone() {
                return checker;
            }
            // The sender is here, so the channel is never closed.
            let _ = opening.changed().await;
        }
    }

    /// Uses this runtime for reading the store.
    pub(crate) fn read_on(&self, runtime: Handle) {
        // Only one thread checks links.
        let _ = self.runtime.set(runtime);
    }

    /// Returns whether the store is open and, as far as is known, can be reached.
    pub(crate) fn is_reachable(&self) -> bool {
        let checker = self.checker();
        checker.is_some_and(|checker| checker.outage().borrow().is_none())
    }

    /// Reads the records of URLs from the store.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read within a limited time.
    pub(crate) async fn records(&self, urls: Vec<String>) -> io::Result<Vec<Option<LinkRecord>>> {
        if urls.is_empty() {
            return Ok(Vec::new());
        }
        let runtime = self.runtime.get().ok_or(io::ErrorKind::NotConnected)?;
        let checker = self.checker().ok_or(io::ErrorKind::NotConnected)?;
        let reading = runtime.spawn(timeout(READING, async move {
            let urls: Vec<_> = urls.iter().map(String::as_str).collect();
            checker.records(&urls).await
        }));
        let read = reading.await.map_err(io::Error::other)?;
        read.map_err(io::Error::from)?.map_err(io::Error::other)
    }

    /// Returns the result for an entry's target; nothing if it has none.
    pub(crate) fn summary(&self, entry: Entry<'_>) -> Option<LinkSummary> {
        let target = entry.target()?;
        Some(self.known.summary(&target))
    }

    /// Returns how many links have each verdict.
    pub(crate) fn verdicts(&self) -> VerdictCounts {
        self.known.counts()
    }

    /// Returns the number of requests with a result.
    pub(crate) fn requests(&self, result: RequestResult) -> u64 {
        self.checker().map_or(0, |checker| checker.requests(result))
    }

    /// Returns the hosts by their state.
    pub(crate) fn hosts(&self) -> HostCounts {
        *self.counted_hosts()
    }

    /// Counts the hosts by their state, unless the store cannot be reached now.
    pub(crate) async fn count_hosts(&self) {
        if let Some(checker) = self.checker()
            && let Ok(counts) = checker.hosts().await
        {
            *self.counted_hosts() = counts;
        }
    }

    fn counted_hosts(&self) -> MutexGuard<'_, HostCounts> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
