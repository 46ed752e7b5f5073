//! What a process is to do, with its limits, and how it reports its progress.

mod bounds;
mod job;
mod progress;
mod speed;

pub(crate) use bounds::Bounds;
pub(crate) use job::{FetchDepth, FetchOrder, JOB_BYTES, Job, PushOrder, Task, Tip};
pub(crate) use progress::{Progress, ProgressReport};
pub(crate) use speed::SpeedLimit;
pub use speed::TransferTimeout;
