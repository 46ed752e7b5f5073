//! How a server behaves.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use super::Tls;
use super::http::AdminHost;
use super::net::{Pace, Timeouts};
use super::public::HookSecret;
use super::state::{Fetches, LogDrops};

/// How a server behaves; the defaults are those of the command line.
#[derive(Debug, Clone)]
pub struct Config {
    /// Serve without a table, not ready, when the first load fails.
    pub wait: bool,
    /// How often the source is looked at when nothing hints at a change.
    pub poll_interval: Duration,
    /// How many threads serve public connections.
    pub threads: NonZeroUsize,
    /// How many public connections are open at once; more wait in the listen backlog.
    /// At least 1.
    pub max_connections: u32,
    /// How long to keep serving, not ready, after a request to terminate.
    pub drain_delay: Duration,
    /// How long requests in flight may take after that.
    pub drain_timeout: Duration,
    /// How long a client may keep a connection without doing anything with it.
    pub timeouts: Timeouts,
    /// Under which names the admin listener shows more than probes and metrics, beside its addresses
    /// and `localhost`.
    pub admin_hosts: Vec<AdminHost>,
    /// How slowly a client may read a dump of the table.
    pub dump_pace: Pace,
    /// What a Git host signs its hooks with; without it there is no hook.
    pub hook: Option<HookSecret>,
    /// Whether anyone may take the live table as a whole.
    pub public_table: bool,
    /// What the public listener speaks TLS with; without it, it speaks in the clear.
    pub tls: Option<Tls>,
    /// What is told of the source's fetches, by whoever makes them.
    pub fetches: Fetches,
    /// Log lines that were dropped, as whoever writes the log counts them.
    pub log_drops: LogDrops,
    /// How long ago a fetch may last have succeeded for the server to be ready.
    pub max_staleness: Option<Duration>,
    /// What messages call the limit of the table's size that its source holds to.
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
            public_table: true,
            tls: None,
            fetches: Fetches::default(),
            log_drops: LogDrops::default(),
            max_staleness: None,
            table_limit: "the limit of its size".into(),
        }
    }
}
