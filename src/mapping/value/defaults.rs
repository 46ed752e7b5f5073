//! What the entries of a document take over from it.

use super::properties::{Forward, NewCode, Status};

/// Values for the entries of a document that do not set them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Defaults {
    /// The redirect status.
    pub status: Option<Status>,
    /// What is carried over to targets.
    pub forward: Option<Forward>,
    /// How long redirects may be cached, in seconds.
    pub cache_max_age: Option<u32>,
    /// How new links get their codes.
    pub new: Option<NewCode>,
}
