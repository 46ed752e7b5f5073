//! The socket of a service manager: messages are queued, and sent in their order.
//!
//! Invariant: nothing that queues a message waits for the manager.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;
use tracing::warn;

/// How long to wait for a busy manager.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How many messages wait for a busy manager. A manager that leaves more unread has failed.
const QUEUE: usize = 16;

/// The socket at which a manager receives messages.
pub(super) struct NotifySocket {
    path: PathBuf,
    timeout: Duration,
    /// Whether it was logged that the manager cannot be notified.
    complained: AtomicBool,
}

/// Messages that wait to be sent.
pub(super) struct Outbox(mpsc::Sender<String>);

/// Returns both ends of a queue of messages.
pub(super) fn outbox() -> (Outbox, mpsc::Receiver<String>) {
    let (sender, receiver) = mpsc::channel(QUEUE);
    (Outbox(sender), receiver)
}

impl Outbox {
    /// Queues a message; if the queue is full, the message is dropped.
    pub(super) fn queue(&self, message: String) {
        // If the queue is full or closed, there is no manager that would read it.
        let _ = self.0.try_send(message);
    }
}

impl NotifySocket {
    /// Takes the path from `NOTIFY_SOCKET`.
    pub(super) fn at(path: PathBuf) -> Self {
        Self {
            path,
            timeout: TIMEOUT,
            complained: AtomicBool::new(false),
        }
    }

    /// Sends all messages of a queue, until that is closed.
    ///
    /// After a timeout, a manager is not waited for again until it has read something, so that the
    /// last message is not delayed by the earlier ones.
    pub(super) async fn send_all(&self, mut queued: mpsc::Receiver<String>) {
        let mut limit = self.timeout;
        while let Some(message) = queued.recv().await {
            limit = match self.send_within(limit, &message).await {
                true => self.timeout,
                false => Duration::ZERO,
            };
        }
    }

    /// Sends a message now.
    pub(super) async fn send(&self, message: &str) {
        self.send_within(self.timeout, message).await;
    }

    /// Sends a message; returns whether it was sent. The first failure is logged.
    async fn send_within(&self, limit: Duration, message: &str) -> bool {
        let sent = send(&self.path, limit, message.as_bytes()).await;
        if let Err(error) = &sent
            && !self.complained.swap(true, Ordering::Relaxed)
        {
            warn!(%error, "cannot notify the service manager");
        }
        sent.is_ok()
    }
}

/// Sends a message over a new connection, because a manager may have restarted since the last one.
///
/// sd-notify's own send would block a thread while the manager is busy.
async fn send(path: &Path, limit: Duration, message: &[u8]) -> io::Result<()> {
    let connection = UnixDatagram::unbound()?;
    connection.connect_addr(&address(path)?)?;
    connection.set_nonblocking(true)?;
    match connection.send(message) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock && !limit.is_zero() => {
            let connection = tokio::net::UnixDatagram::from_std(connection)?;
            let sent = timeout(limit, connection.send(message)).await;
            sent.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        }
        sent => sent,
    }
    .map(drop)
}

/// Returns the address of a manager: an `@` starts a name without a file, which only Linux has.
fn address(path: &Path) -> io::Result<SocketAddr> {
    #[cfg(target_os = "linux")]
    if let Some(name) = path.as_os_str().as_bytes().strip_prefix(b"@") {
        use std::os::linux::net::SocketAddrExt as _;
        return SocketAddr::from_abstract_name(name);
    }
    SocketAddr::from_pathname(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a manager whose queue is full, and the number of messages in it.
    fn busy_manager() -> (tempfile::TempDir, UnixDatagram, NotifySocket, usize) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        manager.set_nonblocking(true).unwrap();
        let other = UnixDatagram::unbound().unwrap();
        other.connect(&path).unwrap();
        other.set_nonblocking(true).unwrap();
        let filled = (0..).take_while(|_| other.send(b"other").is_ok()).count();
        (directory, manager, NotifySocket::at(path), filled)
    }

    fn read(manager: &UnixDatagram) -> Option<String> {
        let mut bytes = [0; 64];
        let length = manager.recv(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }

    #[tokio::test]
    async fn what_a_busy_manager_is_sent_waits_in_order() {
        let (_directory, manager, mut socket, filled) = busy_manager();
        socket.timeout = Duration::from_secs(3600);
        let (messages, queued) = outbox();
        // Returns although nothing has been read.
        for number in 0..QUEUE {
            messages.queue(number.to_string());
        }
        drop(messages);
        let reading = async {
            for _ in 0..filled {
                assert_eq!(read(&manager).as_deref(), Some("other"));
            }
            for number in 0..QUEUE {
                let message = loop {
                    match read(&manager) {
                        Some(message) => break message,
                        None => tokio::task::yield_now().await,
                    }
                };
                assert_eq!(message, number.to_string());
            }
        };
        tokio::join!(socket.send_all(queued), reading);
    }

    #[tokio::test]
    async fn a_manager_that_never_reads_is_given_up() {
        let (_directory, _manager, mut socket, _) = busy_manager();
        socket.timeout = Duration::from_millis(1);
        let (messages, queued) = outbox();
        for _ in 0..2 * QUEUE {
            messages.queue("never read".to_owned());
        }
        drop(messages);
        // Ends, or the test hangs.
        socket.send_all(queued).await;
        assert!(socket.complained.load(Ordering::Relaxed));
    }
}
