//! Exit statuses.

/// The result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// It succeeded.
    Done = 0,
    /// The table has errors, or the requested item does not exist or is refused.
    Refused = 1,
    /// The usage was wrong.
    Usage = 2,
    /// It could not run: I/O, Git, network.
    Failed = 3,
    /// Nothing was merged, and Git must not take the present text for the result.
    NotMerged = 129,
}
