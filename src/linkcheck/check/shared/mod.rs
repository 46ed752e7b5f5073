//! What the visits of a check share: the links, the queues of their hosts, and what is counted.

mod asker;
mod checker;
mod counts;
mod host;
mod links;
mod millis;
mod options;
mod progress;
mod queue;

pub use asker::{Ask, Asking};
pub use checker::Checker;
pub use counts::RequestResult;
pub(super) use host::{
    Asked, HostState, Known, RobotsAnswer, host_of, known_robots, known_sibling, origin_of,
};
pub use links::{LinkUse, Links, Resolution, TableLink};
pub(super) use millis::{millis, seconds};
pub use options::CheckOptions;
pub use progress::CheckProgress;
pub(super) use queue::{HostQueue, LeasePurpose, Work, read_key};
