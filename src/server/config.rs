//! The configuration of a server.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use super::Tls;
use super::fleet::Fleet;
use super::http::AdminHost;
use super::net::{Pace, Timeouts};
use super::public::HookSecret;
use super::state::{FetchMetrics, LinkChecking, LogDrops};

/// The configuration of a server; the defaults are those of the command line.
#[derive(Debug, Clone)]
pub struct Config {
    /// Whether to serve without a table, not ready, when the first load fails.
    pub wait: bool,
    /// How often the source is checked when no hint of a change arrives.
    pub poll_interval: Duration,
    /// How many threads serve public connections.
    pub threads: NonZeroUsize,
    /// How many public connections may be open at once; more wait in the listen backlog.
    /// At least 1.
    pub max_connections: u32,
    /// How long to keep serving, not ready, after a signal to terminate.
    pub drain_delay: Duration,
    /// How long requests in flight may take after that.
    pub drain_timeout: Duration,
    /// How long a client may keep a connection without using it.
    pub timeouts: Timeouts,
    /// The names under which the admin listener shows more than probes and metrics, besides its
    /// addresses and `localhost`.
    pub admin_hosts: Vec<AdminHost>,
    /// How slowly a client may read a dump of the table.
    pub dump_pace: Pace,
    /// The secret that a Git host signs its hooks with; without it there is no hook.
    pub hook: Option<HookSecret>,
    /// The replicas of the same table that act as one; without it, each acts alone.
    pub fleet: Option<Fleet>,
    /// Whether anyone may download the whole live table.
    pub public_table: bool,
    /// What links are checked with; without it, they are not checked.
    pub link_checking: Option<LinkChecking>,
    /// Whether plain requests are answered without hyper; off, it answers all, for comparison in tests.
    pub fast_path: bool,
    /// The public listener's TLS; without it, the listener uses plain HTTP.
    pub tls: Option<Tls>,
    /// The counts of the source's fetches, updated by the code that makes them.
    pub fetches: FetchMetrics,
    /// The count of dropped log lines, updated by the code that writes the log.
    pub log_drops: LogDrops,
    /// The maximum age of the last successful fetch for the server to be ready.
    pub max_staleness: Option<Duration>,
    /// The name, in messages, of the source's limit on the size of the table.
    pub table_limit: Arc<str>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            wait: false,
            poll_interval: Duration::from_secs(5),
            threads: available_parallelism().unwrap_or(NonZeroUsize::MIN),
            max_connections: 10_000,
            drain_delay: Duration::ZERO,
            drain_timeout: Duration::from_secs(10),
            timeouts: Timeouts::default(),
            dump_pace: Pace::default(),
            admin_hosts: Vec::new(),
            hook: None,
            fleet: None,
            public_table: true,
            link_checking: None,
            fast_path: true,
            tls: None,
            fetches: FetchMetrics::default(),
            log_drops: LogDrops::default(),
            max_staleness: None,
            table_limit: "the limit of its size".into(),
        }
    }
}
