//! The other end of a connection, and how much it may send at once.

use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite};

use super::timeouts::TimeoutStream;

/// The largest request head, in bytes. Targets have at most 8 KiB, and query forwarding may add the
/// same amount; beyond it hyper answers 431.
pub(crate) const HEAD_BYTES: usize = 16 * 1024;

/// The other end of a connection.
pub(crate) trait Client: AsyncRead + AsyncWrite + Unpin {
    /// Returns whether it will send nothing more: it closed its side, or timed out.
    fn has_ended(&self) -> bool;

    /// Records the time, which was just read: timeouts that begin now do not read it again.
    fn note_time(&mut self, now: Instant);
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client for TimeoutStream<S> {
    fn has_ended(&self) -> bool {
        self.has_ended()
    }

    fn note_time(&mut self, now: Instant) {
        self.note_time(now);
    }
}
