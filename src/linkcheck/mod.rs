//! Checking targets: asking each politely and safely, and concluding a verdict.
//!
//! `polite` knows what a host allows. When which host may be asked is for `frontier` to know.

mod polite;

pub use self::polite::{
    CrawlDelayTooLong, MAX_ADAPTATION, MAX_CRAWL_DELAY, MAX_ROBOTS_BYTES, Pace, Robots, retry_after,
};
