//! The count of dropped log lines.

use prometheus::{IntCounter, Registry};

/// The number of dropped log lines, updated by the code that writes the log; clones count together.
#[derive(Debug, Clone)]
pub struct LogDrops(IntCounter);

impl Default for LogDrops {
    fn default() -> Self {
        let counter = IntCounter::new(
            "waypost_log_dropped_total",
            "Log lines that were dropped, because nothing took them in time.",
        );
        Self(counter.expect("the name is a literal"))
    }
}

impl LogDrops {
    /// Counts a line.
    pub fn count(&self) {
        self.0.inc();
    }

    /// Returns the total.
    pub fn total(&self) -> u64 {
        self.0.get()
    }

    pub(crate) fn register(&self, registry: &Registry) {
        let counter = Box::new(self.0.clone());
        registry
            .register(counter)
            .expect("the name is registered once");
    }
}
