//! Slots for searches: the limit of concurrent searches.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many searches run at once; a further client is asked to retry later. More would only make
/// all of them slower, and serving too: they share the CPU time that serving leaves.
const AT_ONCE: usize = 2;

/// The slots of a server's searches.
pub(crate) struct SearchSlots(Arc<Semaphore>);

impl Default for SearchSlots {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl SearchSlots {
    /// Returns a slot, if one is free.
    pub(crate) fn take(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }
}
