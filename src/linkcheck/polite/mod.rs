//! What a host allows, and how long it rests: pure rules of politeness.

mod pause;
mod retry_after;
mod robots;

pub use pause::{CrawlDelayTooLong, HostPace, MAX_ADAPTATION, MAX_CRAWL_DELAY};
pub use retry_after::retry_after;
pub use robots::{MAX_ROBOTS_BYTES, Robots};
