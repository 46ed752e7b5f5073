//! Concluding: from observations to verdicts and the time of the next check, purely; and how a host
//! answers for missing pages.

mod endings;
mod observation;
mod policy;
mod record;
mod sibling;
mod verdict;

pub use endings::Endings;
pub use observation::{Observation, Seen};
pub use policy::Policy;
pub use record::{LinkRecord, UnreadableRecord};
pub use sibling::Sibling;
pub use verdict::Verdict;
