//! Counts of answers and their durations, without contention between threads.
//!
//! If all threads counted in one place, each request would take that cache line away from the other
//! threads. So each has its own counts, and metrics report the sums.
//!
//! Invariant: a thread's counts are written by that thread alone, so adding needs no atomic
//! read-modify-write.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus::Opts;
use prometheus::core::{Collector, Desc, Describer as _};
use prometheus::proto::{Bucket, Counter, Histogram, LabelPair, Metric, MetricFamily, MetricType};

/// In nanoseconds: a redirect takes microseconds; a page of a large table may take milliseconds.
const LIMITS: [u64; 15] = [
    2_000,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    50_000_000,
    250_000_000,
    1_000_000_000,
];

/// The kind of an answer, as `waypost_requests_total` distinguishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    Redirect,
    Forward,
    Repaired,
    Fallback,
    Preview,
    Page,
    Gone,
    NotFound,
    Misdirected,
    MethodNotAllowed,
    BadRequest,
    ToHttps,
}

impl Answered {
    pub(crate) const ALL: [Self; 12] = [
        Self::Redirect,
        Self::Forward,
        Self::Repaired,
        Self::Fallback,
        Self::Preview,
        Self::Page,
        Self::Gone,
        Self::NotFound,
        Self::Misdirected,
        Self::MethodNotAllowed,
        Self::BadRequest,
        Self::ToHttps,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Redirect => "redirect",
            Self::Forward => "forward",
            Self::Repaired => "repaired",
            Self::Fallback => "fallback",
            Self::Preview => "preview",
            Self::Page => "page",
            Self::Gone => "gone",
            Self::NotFound => "not_found",
            Self::Misdirected => "misdirected",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::BadRequest => "bad_request",
            Self::ToHttps => "to_https",
        }
    }
}

/// The counts of one thread.
// Two cache lines: processors fetch them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct RequestCounts {
    /// In the order of [`Answered::ALL`].
    requests: [AtomicU64; Answered::ALL.len()],
    /// For each of [`LIMITS`], requests up to it and longer than the one before; last, all longer
    /// ones.
    durations: [AtomicU64; LIMITS.len() + 1],
    nanoseconds: AtomicU64,
}

impl RequestCounts {
    /// Counts a request without a duration: it was refused before it was examined.
    pub(crate) fn count(&self, answered: Answered) {
        add(&self.requests[answered as usize], 1);
    }

    /// Counts a request and its duration.
    pub(crate) fn answered(&self, answered: Answered, took: Duration) {
        self.count(answered);
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        // Almost always the first, so a faster search would gain nothing.
        let limit = LIMITS.iter().position(|limit| took <= *limit);
        add(&self.durations[limit.unwrap_or(LIMITS.len())], 1);
        add(&self.nanoseconds, took);
    }
}

fn add(count: &AtomicU64, more: u64) {
    let sum = count.load(Ordering::Relaxed).wrapping_add(more);
    count.store(sum, Ordering::Relaxed);
}

/// The counts of all threads, as metrics.
#[derive(Clone)]
pub(crate) struct Requests {
    threads: Arc<Mutex<Vec<Arc<RequestCounts>>>>,
    outcomes: Desc,
    durations: Desc,
}

impl Default for Requests {
    fn default() -> Self {
        let outcomes = Opts::new("waypost_requests_total", "Requests by outcome.");
        let durations = Opts::new(
            "waypost_request_duration_seconds",
            "Time from a request's head to its answer, without the network.",
        );
        let described = |options: Opts| options.describe().expect("the names are literals");
        Self {
            threads: Arc::default(),
            outcomes: described(outcomes.variable_label("outcome")),
            durations: described(durations),
        }
    }
}

impl Requests {
    /// Returns new counts, which are included in the sums from now on.
    pub(crate) fn counts(&self) -> Arc<RequestCounts> {
        let counts = Arc::<RequestCounts>::default();
        self.threads().push(Arc::clone(&counts));
        counts
    }

    fn threads(&self) -> MutexGuard<'_, Vec<Arc<RequestCounts>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sum(&self, of: impl Fn(&RequestCounts) -> &AtomicU64) -> u64 {
        let threads = self.threads();
        let counts = threads.iter().map(|one| of(one).load(Ordering::Relaxed));
        counts.fold(0, u64::wrapping_add)
    }

    fn outcome(&self, answered: Answered) -> Metric {
        let mut label = LabelPair::default();
        label.set_name("outcome".to_owned());
        label.set_value(answered.as_str().to_owned());
        let mut counter = Counter::default();
        counter.set_value(self.sum(|counts| &counts.requests[answered as usize]) as f64);
        let mut metric = Metric::from_label(vec![label]);
        metric.set_counter(counter);
        metric
    }

    fn duration(&self) -> Metric {
        let mut so_far = 0;
        let buckets = LIMITS.iter().enumerate().map(|(index, limit)| {
            so_far += self.sum(|counts| &counts.durations[index]);
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(seconds(*limit));
            bucket.set_cumulative_count(so_far);
            bucket
        });
        let mut histogram = Histogram::default();
        histogram.set_bucket(buckets.collect());
        let longer = self.sum(|counts| &counts.durations[LIMITS.len()]);
        histogram.set_sample_count(so_far + longer);
        histogram.set_sample_sum(seconds(self.sum(|counts| &counts.nanoseconds)));
        let mut metric = Metric::default();
        metric.set_histogram(histogram);
        metric
    }
}

impl Collector for Requests {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.outcomes, &self.durations]
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let outcomes = Answered::ALL.map(|answered| self.outcome(answered));
        vec![
            family(&self.outcomes, MetricType::COUNTER, outcomes.into()),
            family(
                &self.durations,
                MetricType::HISTOGRAM,
                vec![self.duration()],
            ),
        ]
    }
}

fn family(described: &Desc, kind: MetricType, metrics: Vec<Metric>) -> MetricFamily {
    let mut family = MetricFamily::default();
    family.set_name(described.fq_name.clone());
    family.set_help(described.help.clone());
    family.set_field_type(kind);
    family.set_metric(metrics);
    family
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_in_the_order_of_their_names() {
        for (index, answered) in Answered::ALL.into_iter().enumerate() {
            assert_eq!(answered as usize, index);
        }
    }

    #[test]
    fn sums_what_each_thread_has_counted() {
        let requests = Requests::default();
        let (one, other) = (requests.counts(), requests.counts());
        one.answered(Answered::Redirect, Duration::from_nanos(2_000));
        other.answered(Answered::Redirect, Duration::from_nanos(2_001));
        other.answered(Answered::Gone, Duration::from_secs(3));
        other.count(Answered::BadRequest);

        let families = requests.collect();
        let outcomes = families[0].get_metric();
        let of = |answered: Answered| outcomes[answered as usize].get_counter().get_value();
        assert_eq!(of(Answered::Redirect), 2.0);
        assert_eq!(of(Answered::Gone), 1.0);
        assert_eq!(of(Answered::BadRequest), 1.0);
        assert_eq!(of(Answered::Page), 0.0);

        let histogram = families[1].get_metric()[0].get_histogram();
        let buckets = histogram.get_bucket().iter();
        let buckets: Vec<_> = buckets.map(|bucket| bucket.cumulative_count()).collect();
        assert_eq!(buckets[..2], [1, 2]);
        assert_eq!(buckets[LIMITS.len() - 1], 2);
        assert_eq!(histogram.get_bucket()[0].upper_bound(), 0.000_002);
        assert_eq!(histogram.get_sample_count(), 3);
        assert_eq!(histogram.get_sample_sum(), 3.000_004_001);
    }
}
