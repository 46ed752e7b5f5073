//! The metrics of link checks. A scrape visits no links: its numbers are updated as they change.

use std::sync::Arc;

use prometheus::Opts;
use prometheus::core::{Collector, Desc, Describer};
use prometheus::proto::{Counter, Gauge, LabelPair, Metric, MetricFamily, MetricType};

use super::link_checks::LinkChecks;
use crate::linkcheck::RequestResult;

/// The metrics of link checks.
pub(crate) struct LinkMetrics {
    checks: Arc<LinkChecks>,
    links: Desc,
    requests: Desc,
    hosts: Desc,
}

impl LinkMetrics {
    pub(crate) fn new(checks: Arc<LinkChecks>) -> Self {
        let described = |name, help, label| {
            let options = Opts::new(name, help).variable_label(label);
            options.describe().expect("the names are literals")
        };
        Self {
            checks,
            links: described(
                "waypost_links",
                "Targets of the live table by what link checks conclude about them.",
                "verdict",
            ),
            requests: described(
                "waypost_linkcheck_requests_total",
                "Requests of link checks by what became of them.",
                "result",
            ),
            hosts: described(
                "waypost_linkcheck_hosts",
                "Hosts of link checks by their state.",
                "state",
            ),
        }
    }
}

impl Collector for LinkMetrics {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.links, &self.requests, &self.hosts]
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let links = self.checks.verdicts();
        let links = links.map(|(verdict, count)| gauge("verdict", verdict.name(), count));
        let requests = RequestResult::ALL.map(|result| {
            let mut counter = Counter::default();
            counter.set_value(self.checks.requests(result) as f64);
            let mut metric = labelled("result", result.name());
            metric.set_counter(counter);
            metric
        });
        let hosts = self.checks.hosts();
        let hosts = [
            ("queued", hosts.queued),
            ("busy", hosts.busy),
            ("blocked", hosts.blocked),
        ];
        let hosts = hosts.map(|(state, count)| gauge("state", state, count));
        vec![
            family(&self.links, MetricType::GAUGE, links.into()),
            family(&self.requests, MetricType::COUNTER, requests.into()),
            family(&self.hosts, MetricType::GAUGE, hosts.into()),
        ]
    }
}

fn gauge(label: &str, value: &str, count: usize) -> Metric {
    let mut gauge = Gauge::default();
    gauge.set_value(count as f64);
    let mut metric = labelled(label, value);
    metric.set_gauge(gauge);
    metric
}

fn labelled(name: &str, value: &str) -> Metric {
    let mut label = LabelPair::default();
    label.set_name(name.to_owned());
    label.set_value(value.to_owned());
    Metric::from_label(vec![label])
}

fn family(described: &Desc, kind: MetricType, metrics: Vec<Metric>) -> MetricFamily {
    let mut family = MetricFamily::default();
    family.set_name(described.fq_name.clone());
    family.set_help(described.help.clone());
    family.set_field_type(kind);
    family.set_metric(metrics);
    family
}
