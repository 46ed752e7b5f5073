//! The floor of `tests/bench`: the cost of a redirect for a server that only answers.
//!
//! One thread, one epoll, and the same answer to every request, as long as one of Waypost's. What a
//! server costs beyond this is its own work: to read the request, to look the code up, to count,
//! to keep timeouts, to support the rest of HTTP.
//!
//! It leaves out everything else: it reads nothing of a head but its end, supports
//! neither bodies nor `Connection: close`, gives up on a client that does not take its answers at
//! once, and never on an idle one. It is for load on loopback, and for nothing else.
//!
//!     epoll_floor ADDRESS

use std::env;
use std::error::Error;
use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::num::TryFromIntError;
use std::os::fd::AsRawFd;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Registry, Token};

/// The header fields that Waypost sends, with a location of the usual length.
const ANSWER: &[u8] = b"HTTP/1.1 302 Found\r\n\
    location: https://www.example.org/as/long/as/the/targets/of/the/tables-are\r\n\
    cache-control: public, max-age=60\r\n\
    referrer-policy: no-referrer\r\n\
    content-length: 0\r\n\
    date: Thu, 01 Jan 1970 00:00:00 GMT\r\n\
    \r\n";

/// What ends the head of a request.
const END: &[u8] = b"\r\n\r\n";

fn main() -> Result<(), Box<dyn Error>> {
    let address: SocketAddr = env::args()
        .nth(1)
        .ok_or("usage: epoll_floor ADDRESS")?
        .parse()?;
    let mut listener = TcpListener::bind(address)?;
    // A token is a descriptor, which the kernel keeps small: connections need no other register.
    let listening = Token(descriptor(&listener)?);
    let mut connections: Vec<Option<Connection>> = Vec::new();

    let mut poll = Poll::new()?;
    poll.registry()
        .register(&mut listener, listening, Interest::READABLE)?;
    let mut events = Events::with_capacity(1024);
    let mut buffer = [0; 16 * 1024];
    loop {
        poll.poll(&mut events, None)?;
        for event in &events {
            if event.token() == listening {
                accept(&listener, poll.registry(), &mut connections)?;
                continue;
            }
            let slot = &mut connections[event.token().0];
            let open = slot
                .as_mut()
                .is_some_and(|connection| connection.serve(&mut buffer, event.is_read_closed()));
            if !open {
                *slot = None;
            }
        }
    }
}

/// Accepts every connection that waits.
fn accept(
    listener: &TcpListener,
    registry: &Registry,
    connections: &mut Vec<Option<Connection>>,
) -> Result<(), Box<dyn Error>> {
    loop {
        let mut stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let slot = descriptor(&stream)?;
        registry.register(&mut stream, Token(slot), Interest::READABLE)?;
        if slot >= connections.len() {
            connections.resize_with(slot + 1, || None);
        }
        connections[slot] = Some(Connection { stream, matched: 0 });
    }
}

fn descriptor(socket: &impl AsRawFd) -> Result<usize, TryFromIntError> {
    usize::try_from(socket.as_raw_fd())
}

/// A connection, and how much of [`END`] its last bytes were.
struct Connection {
    stream: TcpStream,
    matched: usize,
}

impl Connection {
    /// Answers what has come, and returns whether the connection stays open.
    fn serve(&mut self, buffer: &mut [u8], closed: bool) -> bool {
        loop {
            let read = match self.stream.read(buffer) {
                Ok(0) => return false,
                Ok(read) => read,
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            };
            for _ in 0..self.heads(&buffer[..read]) {
                if self.stream.write_all(ANSWER).is_err() {
                    return false;
                }
            }
            // A short read has emptied the socket: whatever comes next is an event of its own. Only
            // an end that came along with the bytes is not reported again.
            if read < buffer.len() && !closed {
                return true;
            }
        }
    }

    /// Returns how many heads end in these bytes, the next ones of the connection.
    fn heads(&mut self, bytes: &[u8]) -> usize {
        let mut ended = 0;
        for &byte in bytes {
            self.matched = match byte {
                byte if byte == END[self.matched] => self.matched + 1,
                b'\r' => 1,
                _ => 0,
            };
            if self.matched == END.len() {
                self.matched = 0;
                ended += 1;
            }
        }
        ended
    }
}
