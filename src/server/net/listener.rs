//! Listeners: accepting connections, up to a limit.
//!
//! At the limit the server stops accepting: further clients wait in the listen backlog, where they
//! cost nothing. So that they get their turn, keep-alive is off while the limit is reached, and
//! idle connections end after their next answer. On the admin listener no client waits: see
//! `admin_room.rs`.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

use super::accept_outages::AcceptOutages;
use super::phase::{Lifecycle, Phase};

/// How many connections the kernel may hold until they are accepted; it silently lowers this to
/// its own limit (`net.core.somaxconn`, 4096 since Linux 5.4).
const BACKLOG: i32 = 4096;

/// How long to wait when the process or the machine has run out of file descriptors.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// The connection limit of the redirect to HTTPS: its clients get one answer, then are closed.
pub(crate) const REDIRECT_CONNECTIONS: u32 = 1000;

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    /// The same port of another address, accepted from as well.
    beside: Option<TcpListener>,
    /// Whether another process holds it too, and passes it to the next process.
    inherited: bool,
}

impl Listener {
    /// Takes a socket that another process has opened and keeps.
    pub(crate) fn inherited(socket: std::net::TcpListener) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket: TcpListener::from_std(socket)?,
            beside: None,
            inherited: true,
        })
    }

    /// Also listens on its port of another address, if this machine has that.
    ///
    /// # Errors
    ///
    /// Fails if the port of that address is taken or not allowed. Must be called within a runtime.
    pub fn beside(self, ip: IpAddr) -> io::Result<Self> {
        let address = SocketAddr::new(ip, self.local_addr()?.port());
        let beside = match bind(address) {
            Ok(bound) => Some(bound.socket),
            Err(error) if is_missing(&error) => None,
            Err(error) => return Err(error),
        };
        Ok(Self { beside, ..self })
    }

    /// Returns the next connection, from any of its addresses.
    async fn next(&self) -> io::Result<(tokio::net::TcpStream, SocketAddr)> {
        match &self.beside {
            None => self.socket.accept().await,
            Some(beside) => tokio::select! {
                accepted = self.socket.accept() => accepted,
                accepted = beside.accept() => accepted,
            },
        }
    }

    /// Returns the address it listens on.
    ///
    /// # Errors
    ///
    /// Fails if the operating system does not report it.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

/// Returns a socket that listens on `address`; port 0 means any free port.
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
    // Without it a restarted server waits for the TIME_WAIT of old connections to pass.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        // `[::]` includes IPv4, whatever the system's default.
        socket.set_only_v6(false)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(Listener {
        socket: TcpListener::from_std(socket.into())?,
        beside: None,
        inherited: false,
    })
}

/// Returns whether this machine does not have an address, or none of its kind.
fn is_missing(error: &io::Error) -> bool {
    let is_unsupported = error.raw_os_error() == Some(Errno::AFNOSUPPORT.raw_os_error());
    is_unsupported || error.kind() == io::ErrorKind::AddrNotAvailable
}

/// Accepts connections, one permit each, until the server closes; then those already established,
/// which would otherwise be reset. On an inherited socket, those are left to the next process: they
/// wait there, and under load they would never end.
pub(crate) async fn accept_all<T: Future<Output = OwnedSemaphorePermit>>(
    listener: Listener,
    name: &'static str,
    lifecycle: &Lifecycle,
    next_permit: impl Fn() -> T,
    serve: impl Fn(TcpStream, OwnedSemaphorePermit),
) {
    let mut phases = lifecycle.phases();
    let accepting = async {
        let mut outages = AcceptOutages::of(name);
        loop {
            let permit = next_permit().await;
            let stream = accept(&listener, &mut outages).await;
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
    let sockets = [Some(listener.socket), listener.beside]
        .into_iter()
        .flatten();
    let mut made = Vec::new();
    for socket in sockets.filter_map(|socket| socket.into_std().ok()) {
        let waiting = std::iter::from_fn(|| socket.accept().ok());
        made.extend(waiting.take(BACKLOG as usize));
        // From here on, no client can connect that would get no answer.
        drop(socket);
    }
    for (stream, _) in made {
        // Those beyond the limit are served as others end.
        let permit = next_permit().await;
        serve(stream, permit);
    }
}

/// Waits until there is room for another connection.
pub(crate) async fn next_permit(permits: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let permit = Arc::clone(permits).acquire_owned().await;
    permit.expect("the semaphore is never closed")
}

/// Returns the next connection, however long it takes to arrive.
async fn accept(listener: &Listener, outages: &mut AcceptOutages) -> TcpStream {
    loop {
        // The connection is registered with another runtime, which serves it.
        let accepted = listener.next().await;
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

/// Returns whether a connection failed before it was accepted, which does not affect the next.
fn is_the_clients(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

/// Returns a connection set up for the runtime that serves it; fails if it is closed.
pub(crate) fn prepared(stream: TcpStream) -> io::Result<tokio::net::TcpStream> {
    stream.set_nonblocking(true)?;
    // Without it the end of an answer may wait for the client's acknowledgement.
    stream.set_nodelay(true)?;
    tokio::net::TcpStream::from_std(stream)
}

/// Waits until every connection has given its permit back.
pub(crate) async fn all_returned(permits: &Semaphore, count: u32) {
    // It fails only on a closed semaphore, and this one is never closed.
    let _ = permits.acquire_many(count).await;
}
