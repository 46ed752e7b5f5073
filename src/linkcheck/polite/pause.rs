//! The pause between two requests to a host.
//!
//! Every request counts: robots.txt, `GET` after `HEAD`, and each hop of a redirect. A host that
//! answers slowly, or reports too many requests, gets longer pauses.

use std::time::Duration;

/// The factor from the duration of the last answer to the pause.
const ADAPTATION: u32 = 5;

/// The longest pause because of a slow answer, and the pause after an answer that reports too many
/// requests without a `Retry-After`.
pub const MAX_ADAPTATION: Duration = Duration::from_secs(30);

/// The longest `Crawl-delay` that is honoured.
pub const MAX_CRAWL_DELAY: Duration = Duration::from_secs(300);

/// The rules of one host about the time between two requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostPace {
    delay: Duration,
    crawl_delay: Duration,
}

/// A host requires longer pauses than [`MAX_CRAWL_DELAY`]: it is not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("robots.txt requires {} s between two requests", wanted.as_secs())]
pub struct CrawlDelayTooLong {
    /// The `Crawl-delay` of its robots.txt.
    pub wanted: Duration,
}

impl HostPace {
    /// Returns the pace of a host: the configured delay, and the `Crawl-delay` of its robots.txt.
    ///
    /// # Errors
    ///
    /// Fails if the host requires pauses that are too long.
    pub fn new(delay: Duration, crawl_delay: Option<Duration>) -> Result<Self, CrawlDelayTooLong> {
        match crawl_delay.unwrap_or_default() {
            wanted if wanted > MAX_CRAWL_DELAY => Err(CrawlDelayTooLong { wanted }),
            crawl_delay => Ok(Self { delay, crawl_delay }),
        }
    }

    /// Returns the pause after a request with this duration.
    pub fn after(self, took: Duration) -> Duration {
        let adapted = took.saturating_mul(ADAPTATION).min(MAX_ADAPTATION);
        self.delay.max(self.crawl_delay).max(adapted)
    }

    /// Returns the pause after an answer that reports too many requests without a `Retry-After`.
    pub fn after_refusal(self) -> Duration {
        self.delay.max(self.crawl_delay).max(MAX_ADAPTATION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn pace(delay: u64, crawl_delay: Option<u64>) -> HostPace {
        HostPace::new(seconds(delay), crawl_delay.map(seconds)).unwrap()
    }

    #[test]
    fn a_slow_host_rests_longer_up_to_a_bound() {
        assert_eq!(pace(1, None).after(Duration::from_millis(100)), seconds(1));
        assert_eq!(pace(1, None).after(seconds(2)), seconds(10));
        assert_eq!(pace(1, None).after(seconds(6)), seconds(30));
        assert_eq!(pace(1, None).after(seconds(600)), seconds(30));
        assert_eq!(pace(1, None).after(Duration::MAX), seconds(30));
        assert_eq!(pace(0, None).after(Duration::ZERO), Duration::ZERO);
        // The limit applies only to the adaptation.
        assert_eq!(pace(60, None).after(seconds(600)), seconds(60));
        assert_eq!(pace(1, None).after_refusal(), seconds(30));
        assert_eq!(pace(60, None).after_refusal(), seconds(60));
    }

    #[test]
    fn a_crawl_delay_is_honoured_up_to_a_bound() {
        assert_eq!(pace(1, Some(20)).after(Duration::ZERO), seconds(20));
        assert_eq!(pace(1, Some(20)).after(seconds(5)), seconds(25));
        assert_eq!(pace(1, Some(300)).after(seconds(600)), seconds(300));
        assert_eq!(pace(1, Some(300)).after_refusal(), seconds(300));
        assert_eq!(
            HostPace::new(seconds(1), Some(seconds(301))),
            Err(CrawlDelayTooLong {
                wanted: seconds(301)
            })
        );
    }
}
