//! Slots for QR codes: the limit of concurrent drawings.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How many QR codes are drawn at once: each takes a millisecond, that of a very long link forty.
const AT_ONCE: usize = 2;

/// How long a client waits for its turn.
const WAIT: Duration = Duration::from_secs(5);

/// The slots of a server's QR codes.
pub(crate) struct PictureSlots {
    permits: Arc<Semaphore>,
    wait: Duration,
}

impl Default for PictureSlots {
    fn default() -> Self {
        Self::waiting(WAIT)
    }
}

impl PictureSlots {
    /// Returns slots for which clients wait at most this long.
    pub(crate) fn waiting(wait: Duration) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            wait,
        }
    }

    /// Returns a slot as soon as one is free; `None` if that takes too long.
    pub(crate) async fn take(&self) -> Option<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.permits).acquire_owned();
        timeout(self.wait, permit).await.ok()?.ok()
    }
}
