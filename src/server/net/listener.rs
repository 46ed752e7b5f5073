//! Listeners: accepting connections, as many as are allowed.
//!
//! At the limit the server stops accepting: further clients wait in the listen backlog, where
//! they cost nothing, and get their turn. So that they do, keep-alive is off while the limit is
//! reached, and idle connections end after their next answer. On the admin listener nobody waits:
//! see `admin_room.rs`.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

use super::accept_outages::AcceptOutages;
use super::phase::{Lifecycle, Phase};

/// How many connections the kernel may hold until they are accepted; it silently lowers this to
/// its own limit (`net.core.somaxconn`, 4096 since Linux 5.4).
const BACKLOG: i32 = 4096;

/// How long to wait when the process or the machine has no file descriptor left.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// Clients that are sent on to HTTPS are answered once and let go of.
pub(crate) const REDIRECT_CONNECTIONS: u32 = 1000;

/// A socket that listens.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    /// Whether someone else holds it too, and hands it to the next process.
    inherited: bool,
}

impl Listener {
    /// Takes a socket that someone else has opened and keeps.
    pub(crate) fn inherited(socket: std::net::TcpListener) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket: TcpListener::from_std(socket)?,
            inherited: true,
        })
    }

    /// Returns where it listens.
    ///
    /// # Errors
    ///
    /// Fails if the operating system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

/// Returns a socket that listens on `address`; port 0 stands for any free one.
///
/// # Errors
///
/// Fails if the address is taken, not ours, or not allowed. Must be called within a runtime.
pub fn bind(address: SocketAddr) -> io::Result<Listener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    // Without it a restarted server waits for the old connections' TIME_WAIT to pass.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        // `[::]` means every address, whatever the system's default.
        socket.set_only_v6(false)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(Listener {
        socket: TcpListener::from_std(socket.into())?,
        inherited: false,
    })
}

/// Accepts connections, one permit each, until the server closes; then those that had already
/// been made, which would otherwise be reset. On an inherited socket they are left to the next
/// process: they wait there, and under load there would be no end of them.
pub(crate) async fn accept_all<T: Future<Output = OwnedSemaphorePermit>>(
    listener: Listener,
    name: &'static str,
    lifecycle: &Lifecycle,
    turn: impl Fn() -> T,
    serve: impl Fn(TcpStream, OwnedSemaphorePermit),
) {
    let mut phases = lifecycle.phases();
    let accepting = async {
        let mut outages = AcceptOutages::of(name);
        loop {
            let permit = turn().await;
            let stream = accept(&listener.socket, &mut outages).await;
            serve(stream, permit);
        }
    };
    tokio::select! {
        biased;
        () = accepting => {}
        () = phases.reached(Phase::Closing) => {}
    }

    if listener.inherited {
        return;
    }
    let Ok(listener) = listener.socket.into_std() else {
        return;
    };
    let made = std::iter::from_fn(|| listener.accept().ok());
    let made: Vec<_> = made.take(BACKLOG as usize).collect();
    // From here on nobody can connect who would not be answered.
    drop(listener);
    for (stream, _) in made {
        // Those beyond the limit get their turn as others end.
        let permit = turn().await;
        serve(stream, permit);
    }
}

/// Waits until there is room for one more connection.
pub(crate) async fn turn(permits: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let permit = Arc::clone(permits).acquire_owned().await;
    permit.expect("the semaphore is never closed")
}

/// Returns the next connection, however long that takes.
async fn accept(listener: &TcpListener, outages: &mut AcceptOutages) -> TcpStream {
    loop {
        // Whoever serves it waits on it elsewhere.
        let accepted = listener.accept().await;
        match accepted.and_then(|(stream, _)| stream.into_std()) {
            Ok(stream) => {
                outages.accepted(Instant::now());
                return stream;
            }
            Err(error) if is_the_clients(&error) => {}
            Err(error) => {
                outages.failed(&error, Instant::now());
                sleep(EXHAUSTED).await;
            }
        }
    }
}

/// Returns whether a connection failed before it was accepted, which says nothing of the next.
fn is_the_clients(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

/// Returns a connection as the runtime that it is served in wants it; fails on one that is gone.
pub(crate) fn prepared(stream: TcpStream) -> io::Result<tokio::net::TcpStream> {
    stream.set_nonblocking(true)?;
    // Without it the end of an answer may wait for the client's acknowledgement.
    stream.set_nodelay(true)?;
    tokio::net::TcpStream::from_std(stream)
}

/// Waits until every connection has given its permit back.
pub(crate) async fn all_returned(permits: &Semaphore, count: u32) {
    // It fails only on a closed semaphore, which this is not.
    let _ = permits.acquire_many(count).await;
}
