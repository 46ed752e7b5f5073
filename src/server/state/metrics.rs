//! Metrics: the server's counts, under the names that the design fixes.
//!
//! Invariant: every label value comes from a closed set, except the one live revision. Nothing a
//! client sends can become a label, so no client can make memory grow.

use std::sync::Arc;
use std::time::Duration;

use prometheus::core::Collector;
use prometheus::process_collector::ProcessCollector;
use prometheus::{
    Encoder, Histogram, HistogramOpts, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    TextEncoder,
};

use crate::mapping::{Table, Timestamp};
use crate::source::Revision;

use super::ended::RegistrationResult;
use super::fetch_metrics::FetchMetrics;
use super::link_checks::LinkChecks;
use super::link_metrics::LinkMetrics;
use super::log_drops::LogDrops;
use super::reloaded::Reloaded;
use crate::server::fleet::Fleet;
use crate::server::http::{RequestCounts, Requests};
use crate::server::tls::Tls;

/// Checking an unchanged file takes a millisecond; a checkout that is being written may take 10 s.
const RELOAD_SECONDS: [f64; 11] = [
    0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 10.0, 30.0,
];

/// All metrics of one server.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Requests,
    connections: IntGauge,
    table_entries: IntGauge,
    table_bytes: IntGauge,
    table_info: IntGaugeVec,
    last_reload_successful: IntGauge,
    last_reload_success_timestamp: IntGauge,
    reloads: IntCounterVec,
    reload_duration: Histogram,
    registrations: IntCounterVec,
}

impl Metrics {
    pub(crate) fn new(fetches: &FetchMetrics, log_drops: &LogDrops, max_connections: u32) -> Self {
        let registry = Registry::new();
        fetches.register(&registry);
        log_drops.register(&registry);
        let requests = registered(&registry, Ok(Requests::default()));
        let reloads = registered(
            &registry,
            IntCounterVec::new(
                Opts::new("waypost_reloads_total", "Checks of the source by result."),
                &["result"],
            ),
        );
        for result in Reloaded::ALL {
            reloads.with_label_values(&[result.as_str()]);
        }
        let registrations = registered(
            &registry,
            IntCounterVec::new(
                Opts::new(
                    "waypost_registrations_total",
                    "Registrations and edits requested over HTTP by result.",
                ),
                &["result"],
            ),
        );
        for ended in RegistrationResult::ALL {
            registrations.with_label_values(&[ended.as_str()]);
        }
        let build = registered(
            &registry,
            IntGaugeVec::new(
                Opts::new("waypost_build_info", "The version of the running program."),
                &["version"],
            ),
        );
        build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        // The server also works without the process metrics.
        let _ = registry.register(Box::new(ProcessCollector::for_self()));

        let gauge = |name, help| registered(&registry, IntGauge::new(name, help));
        let limit = "The maximum number of open public connections.";
        gauge("waypost_connections_limit", limit).set(max_connections.into());
        Self {
            requests,
            connections: gauge("waypost_connections", "Open public connections."),
            table_entries: gauge("waypost_table_entries", "Entries of the live table."),
            table_bytes: gauge(
                "waypost_table_bytes",
                "Memory used by the live table, in bytes.",
            ),
            table_info: registered(
                &registry,
                IntGaugeVec::new(
                    Opts::new("waypost_table_info", "The revision of the live table."),
                    &["revision"],
                ),
            ),
            last_reload_successful: gauge(
                "waypost_table_last_reload_successful",
                "Whether the last reload succeeded: 0 while the source holds a table that cannot be loaded.",
            ),
            last_reload_success_timestamp: gauge(
                "waypost_table_last_reload_success_timestamp_seconds",
                "When a different table was last loaded.",
            ),
            reloads,
            registrations,
            reload_duration: histogram(
                &registry,
                "waypost_reload_duration_seconds",
                "Duration of a check of the source, including compilation if the table changed.",
                &RELOAD_SECONDS,
            ),
            registry,
        }
    }

    /// Includes the certificate's metrics.
    pub(crate) fn include(&self, tls: &Tls) {
        tls.register(&self.registry);
    }

    /// Includes the fleet's metrics.
    pub(crate) fn include_fleet(&self, fleet: &Fleet) {
        fleet.register(&self.registry);
    }

    /// Includes the metrics of link checks.
    pub(crate) fn include_links(&self, checks: &Arc<LinkChecks>) {
        let metrics = Box::new(LinkMetrics::new(Arc::clone(checks)));
        (self.registry.register(metrics)).expect("each name stands once");
    }

    /// Returns the counts for the requests of another thread.
    pub(crate) fn counts(&self) -> Arc<RequestCounts> {
        self.requests.counts()
    }

    /// Counts a connection as open until the returned value is dropped.
    pub(crate) fn connection(&self) -> OpenConnection {
        self.connections.inc();
        OpenConnection(self.connections.clone())
    }

    /// Reports which table is live now.
    pub(crate) fn live(&self, table: &Table, revision: &Revision) {
        self.table_entries.set(signed(table.len()));
        self.table_bytes.set(signed(table.heap_bytes()));
        self.table_info.reset();
        let revision = revision.to_string();
        self.table_info.with_label_values(&[&revision]).set(1);
    }

    /// Counts a check of the source.
    pub(crate) fn reloaded(&self, result: Reloaded, took: Duration, at: Timestamp) {
        self.reloads.with_label_values(&[result.as_str()]).inc();
        self.reload_duration.observe(took.as_secs_f64());
        let good = matches!(result, Reloaded::Success | Reloaded::Unchanged);
        self.last_reload_successful.set(i64::from(good));
        if result == Reloaded::Success {
            self.last_reload_success_timestamp.set(at.unix());
        }
    }

    /// Counts a registration.
    pub(crate) fn registered(&self, ended: RegistrationResult) {
        self.registrations
            .with_label_values(&[ended.as_str()])
            .inc();
    }

    /// Writes all metrics in the Prometheus text format 0.0.4.
    pub(crate) fn exposition(&self) -> Vec<u8> {
        let mut text = Vec::new();
        TextEncoder::new()
            .encode(&self.registry.gather(), &mut text)
            .expect("writing to memory does not fail, and no family is empty");
        text
    }
}

/// An open connection, counted.
pub(crate) struct OpenConnection(IntGauge);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn histogram(registry: &Registry, name: &str, help: &str, buckets: &[f64]) -> Histogram {
    let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    registered(registry, Histogram::with_opts(options))
}

fn registered<C: Collector + Clone + 'static>(
    registry: &Registry,
    metric: prometheus::Result<C>,
) -> C {
    let metric = metric.expect("the names and buckets are literals in this file");
    (registry.register(Box::new(metric.clone()))).expect("each name is registered once");
    metric
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::http::Answered;

    #[test]
    fn every_label_value_is_there_from_the_start() {
        let text = String::from_utf8(
            Metrics::new(&FetchMetrics::default(), &LogDrops::default(), 1).exposition(),
        )
        .unwrap();
        for answered in Answered::ALL {
            let line = format!(
                "waypost_requests_total{{outcome=\"{}\"}} 0\n",
                answered.as_str()
            );
            assert!(text.contains(&line), "{line}");
        }
        for result in Reloaded::ALL {
            let line = format!(
                "waypost_reloads_total{{result=\"{}\"}} 0\n",
                result.as_str()
            );
            assert!(text.contains(&line), "{line}");
        }
        for ended in RegistrationResult::ALL {
            let line = format!(
                "waypost_registrations_total{{result=\"{}\"}} 0\n",
                ended.as_str()
            );
            assert!(text.contains(&line), "{line}");
        }
        assert!(text.contains("waypost_log_dropped_total 0\n"));
        assert!(text.contains("waypost_build_info{version=\""));
        assert!(text.contains("\nprocess_open_fds "));
    }
}
