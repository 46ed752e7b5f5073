//! The state shared by all connections and the reload loop.

use std::sync::Arc;
use std::time::Duration;

use super::dump_slots::DumpSlots;
use super::link_checks::LinkChecks;
use super::live::Live;
use super::load::Source;
use super::metrics::Metrics;
use super::picture_slots::PictureSlots;
use super::search_slots::SearchSlots;
use crate::mapping::Timestamp;
use crate::server::fleet::Fleet;
use crate::server::http::AdminHost;
use crate::server::net::Lifecycle;
use crate::server::tls::Tls;

/// The state shared by all connections and the reload loop.
pub(crate) struct Shared {
    pub(crate) live: Live,
    pub(crate) metrics: Metrics,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) source: Arc<dyn Source>,
    /// `None` if the table is not public.
    pub(crate) dumps: Option<DumpSlots>,
    pub(crate) searches: SearchSlots,
    pub(crate) pictures: PictureSlots,
    /// `None` if links are not checked.
    pub(crate) link_checks: Option<Arc<LinkChecks>>,
    pub(crate) tls: Option<Tls>,
    /// `None` if there are no other replicas.
    pub(crate) fleet: Option<Fleet>,
    pub(crate) admin_hosts: Vec<AdminHost>,
    pub(crate) max_staleness: Option<Duration>,
    pub(crate) table_limit: Arc<str>,
    pub(crate) started: Timestamp,
}

impl Shared {
    /// Returns whether anyone may list, search and download the whole table.
    pub(crate) fn is_public(&self) -> bool {
        self.dumps.is_some()
    }
}
