//! Exit statuses.

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// It did what was asked.
    Done = 0,
    /// The table has errors, or what was asked for is not there or refused.
    Refused = 1,
    /// It was called in a way that cannot work.
    Usage = 2,
    /// It could not run: I/O, Git, network.
    Failed = 3,
    /// It merged nothing, and Git is not to take what is there for the result.
    NotMerged = 129,
}
