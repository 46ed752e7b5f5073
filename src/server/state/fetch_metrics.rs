//! The counts of fetches from remotes.

use prometheus::{IntCounterVec, IntGauge, Opts, Registry};

use crate::source::{Fetch, FetchObserver, FetchResult};

/// The metrics of a fetched source; all zero for other sources.
#[derive(Debug, Clone)]
pub struct FetchMetrics {
    results: IntCounterVec,
    last_success: IntGauge,
}

impl Default for FetchMetrics {
    fn default() -> Self {
        let help = "Fetches from the remote by result.";
        let options = Opts::new("waypost_git_fetches_total", help);
        let results = IntCounterVec::new(options, &["result"]);
        let last_success = IntGauge::new(
            "waypost_git_last_fetch_success_timestamp_seconds",
            "When the remote was last fetched from, whether or not it had something new.",
        );
        let fetches = Self {
            results: results.expect("the name and label are literals"),
            last_success: last_success.expect("the name is a literal"),
        };
        for result in FetchResult::ALL {
            fetches.results.with_label_values(&[result.as_str()]);
        }
        fetches
    }
}

impl FetchMetrics {
    /// Returns an observer that counts each fetch.
    pub fn observer(&self) -> FetchObserver {
        let fetches = self.clone();
        std::sync::Arc::new(move |fetch| fetches.observe(fetch))
    }

    fn observe(&self, fetch: &Fetch) {
        let result = fetch.result;
        self.results.with_label_values(&[result.as_str()]).inc();
        if result.is_success() {
            self.last_success.set(fetch.at.unix());
        }
    }

    pub(crate) fn register(&self, registry: &Registry) {
        for collector in [
            Box::new(self.results.clone()) as Box<dyn prometheus::core::Collector>,
            Box::new(self.last_success.clone()),
        ] {
            registry
                .register(collector)
                .expect("each name is registered once");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prometheus::{Encoder as _, TextEncoder};

    use super::*;
    use crate::mapping::Timestamp;

    #[test]
    fn counts_by_result_and_dates_the_last_success() {
        let fetches = FetchMetrics::default();
        let registry = Registry::new();
        fetches.register(&registry);
        for (at, result) in [(10, FetchResult::Updated), (20, FetchResult::TimedOut)] {
            fetches.observer()(&Fetch {
                at: Timestamp::from_unix(at),
                took: Duration::ZERO,
                result,
                tip: None,
                error: None,
                setting: None,
            });
        }
        let mut text = Vec::new();
        TextEncoder::new()
            .encode(&registry.gather(), &mut text)
            .unwrap();
        let text = String::from_utf8(text).unwrap();
        for line in [
            "waypost_git_fetches_total{result=\"updated\"} 1",
            "waypost_git_fetches_total{result=\"timed_out\"} 1",
            "waypost_git_fetches_total{result=\"refused\"} 0",
            "waypost_git_last_fetch_success_timestamp_seconds 10",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
