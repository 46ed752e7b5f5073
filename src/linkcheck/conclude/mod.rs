//! Concluding: from observations to verdicts, purely.

mod observation;
mod policy;
mod record;
mod verdict;

pub use observation::{Observation, Seen};
pub use policy::Policy;
pub use record::{Record, UnreadableRecord};
pub use verdict::Verdict;
