//! The defaults of a document for its entries.

use super::properties::{Forward, NewCode, Status};

/// Values for the entries of a document that do not set them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Defaults {
    /// The redirect status.
    pub status: Option<Status>,
    /// The parts of a request that are forwarded to targets.
    pub forward: Option<Forward>,
    /// The time for which redirects may be cached, in seconds.
    pub cache_max_age: Option<u32>,
    /// How new links get their codes.
    pub new: Option<NewCode>,
}
