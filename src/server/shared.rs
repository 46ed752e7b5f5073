//! What all connections and the reload loop share.

use std::sync::Arc;
use std::time::Duration;

use super::dump_slots::DumpSlots;
use super::live::Live;
use super::load::Source;
use super::metrics::Metrics;
use super::phase::Lifecycle;
use super::{AdminHost, Tls};
use crate::mapping::Timestamp;

/// What all connections and the reload loop share.
pub(super) struct Shared {
    pub(super) live: Live,
    pub(super) metrics: Metrics,
    pub(super) lifecycle: Lifecycle,
    pub(super) source: Arc<dyn Source>,
    /// None if the table is not to be taken as a whole.
    pub(super) dumps: Option<DumpSlots>,
    pub(super) tls: Option<Tls>,
    pub(super) admin_hosts: Vec<AdminHost>,
    pub(super) max_staleness: Option<Duration>,
    pub(super) table_limit: Arc<str>,
    pub(super) started: Timestamp,
}
