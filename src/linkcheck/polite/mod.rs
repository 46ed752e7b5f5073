//! What a host allows, and how long it rests: pure rules of politeness.

mod pause;
mod retry_after;
mod robots;

pub use pause::{CrawlDelayTooLong, MAX_ADAPTATION, MAX_CRAWL_DELAY, Pace};
pub use retry_after::retry_after;
pub use robots::{MAX_ROBOTS_BYTES, Robots};
