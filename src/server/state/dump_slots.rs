//! Slots for dumps: the limit of concurrent dumps of the table, and the pace at which clients must
//! read.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::server::net::Pace;

/// How many dumps are written at once; a further client is asked to retry later.
const AT_ONCE: usize = 4;

/// The slots of a server's dumps.
pub(crate) struct DumpSlots {
    permits: Arc<Semaphore>,
    pace: Pace,
}

impl DumpSlots {
    /// Returns slots whose clients must read at the given pace.
    pub(crate) fn at(pace: Pace) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            pace,
        }
    }

    /// Returns a slot with the pace that its client has to keep, if one is free.
    pub(crate) fn take(&self) -> Option<(OwnedSemaphorePermit, Pace)> {
        let permit = Arc::clone(&self.permits).try_acquire_owned().ok()?;
        Some((permit, self.pace))
    }
}
