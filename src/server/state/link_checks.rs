//! What the server knows of the targets of its links, if it checks them.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::frontier::{AliasName, Clock, Host, HostCounts};
use crate::linkcheck::{
    Ask, CheckOptions, CheckState, Checker, KnownLinks, LinkRecord, LinkSummary, Links,
    RequestResult, VerdictCounts,
};
use crate::mapping::Entry;

/// How long it may take to read the store, which waits while that is gone.
const READING: Duration = Duration::from_secs(20);

/// What links are checked with.
#[derive(Clone)]
pub struct LinkChecking {
    /// Where what is known of them is kept.
    pub state: Arc<dyn CheckState>,
    /// How hosts are asked.
    pub asker: Arc<dyn Ask>,
    /// The clock of the state.
    pub clock: Arc<dyn Clock>,
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

/// What is known of the targets of the live links.
pub(crate) struct LinkChecks {
    pub(crate) checker: Arc<Checker>,
    /// Read by requests, without a lock and without I/O.
    pub(crate) known: Arc<KnownLinks>,
    pub(crate) members: Vec<(Host, AliasName)>,
    /// The hosts when they were last counted.
    hosts: Mutex<HostCounts>,
    /// Where the store is read: its connections must not be on serving threads.
    runtime: OnceLock<Handle>,
}

impl LinkChecks {
    /// Returns what checks links with these means; there are none yet.
    pub(crate) fn new(checking: LinkChecking) -> Self {
        let LinkChecking {
            state,
            asker,
            clock,
            options,
            members,
        } = checking;
        let known = Arc::<KnownLinks>::default();
        let checker = Checker::new(state, asker, clock, Links::default(), options);
        let observed = Arc::clone(&known);
        let observer = move |url: &str, _: Option<&LinkRecord>, record: &LinkRecord| {
            observed.observe(url, record);
        };
        Self {
            checker: Arc::new(checker.with_observer(observer)),
            known,
            members,
            hosts: Mutex::default(),
            runtime: OnceLock::new(),
        }
    }

    /// Has the store read on this runtime.
    pub(crate) fn read_on(&self, runtime: Handle) {
        // There is one thread that checks links.
        let _ = self.runtime.set(runtime);
    }

    /// Reads what is known of URLs from the store.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read within a limited time.
    pub(crate) async fn records(&self, urls: Vec<String>) -> io::Result<Vec<Option<LinkRecord>>> {
        let runtime = self.runtime.get().ok_or(io::ErrorKind::NotConnected)?;
        let checker = Arc::clone(&self.checker);
        let reading = runtime.spawn(timeout(READING, async move {
            let urls: Vec<_> = urls.iter().map(String::as_str).collect();
            checker.records(&urls).await
        }));
        let read = reading.await.map_err(io::Error::other)?;
        read.map_err(io::Error::from)?.map_err(io::Error::other)
    }

    /// Returns what is known of an entry's target; nothing if it has none.
    pub(crate) fn summary(&self, entry: Entry<'_>) -> Option<LinkSummary> {
        let target = entry.target()?;
        Some(self.known.summary(&target))
    }

    /// Returns how many links have each verdict.
    pub(crate) fn verdicts(&self) -> VerdictCounts {
        self.known.counts()
    }

    /// Returns how many requests had a result.
    pub(crate) fn requests(&self, result: RequestResult) -> u64 {
        self.checker.requests(result)
    }

    /// Returns the hosts by their state.
    pub(crate) fn hosts(&self) -> HostCounts {
        *self.counted_hosts()
    }

    /// Counts the hosts by their state, unless the store cannot be reached now.
    pub(crate) async fn count_hosts(&self) {
        if let Ok(counts) = self.checker.hosts().await {
            *self.counted_hosts() = counts;
        }
    }

    fn counted_hosts(&self) -> MutexGuard<'_, HostCounts> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
