//! The parts shared by the visits of a check: the links, the queues of their hosts, and the
//! counters.

mod checker;
mod counts;
mod entry_target;
mod host;
mod link_key;
mod links;
mod millis;
mod options;
mod progress;
mod queue;
mod requester;
mod table_link;
mod url_counts;

pub use checker::Checker;
pub use counts::RequestResult;
pub use entry_target::LinkRole;
pub(super) use host::{
    DatedAnswer, HostState, Known, RobotsAnswer, host_of, host_of_target, known_robots,
    known_sibling, origin_of,
};
pub(super) use link_key::LinkKey;
pub use links::Links;
pub(super) use millis::{millis, seconds};
pub use options::CheckOptions;
pub use progress::CheckProgress;
pub(super) use queue::{
    HostQueue, LeasePurpose, QueuedRow, Work, queued_link, read_key, read_link,
};
pub use requester::{PendingReply, Requester};
pub use table_link::{LinkUse, Resolution, TableLink};
