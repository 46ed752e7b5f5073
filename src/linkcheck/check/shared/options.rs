//! Options for checking links.

use std::time::Duration;

use crate::linkcheck::conclude::Policy;

/// Options for checking links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckOptions {
    /// The shortest pause between two requests to a host or the hosts of an alias.
    pub delay: Duration,
    /// How many hosts are checked at a time.
    pub concurrency: usize,
    /// How much evidence makes a link dead, and when it is checked again.
    pub policy: Policy,
    /// How long the check may take.
    pub max_time: Option<Duration>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(1),
            concurrency: 64,
            policy: Policy::default(),
            max_time: None,
        }
    }
}
