//! The stream of an encrypted connection.

use std::time::Instant;

use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::server::net::{Client, TimeoutStream};

/// A TLS socket whose timeouts apply to the TCP stream below it: a client that sends records slowly
/// counts as slow there.
pub(super) type Secured = TlsStream<TimeoutStream<TcpStream>>;

impl Client for Secured {
    fn has_ended(&self) -> bool {
        self.get_ref().0.has_ended()
    }

    fn note_time(&mut self, now: Instant) {
        self.get_mut().0.note_time(now);
    }
}
