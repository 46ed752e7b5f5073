//! Rules of politeness, all pure: robots.txt, the pauses between requests, and `Retry-After`.

mod pause;
mod retry_after;
mod robots;

pub use pause::{CrawlDelayTooLong, HostPace, MAX_ADAPTATION, MAX_CRAWL_DELAY};
pub use retry_after::retry_after;
pub use robots::{MAX_ROBOTS_BYTES, Robots};
