//! One connection to a host: to an address that has been checked, and no other.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout, timeout_at};
use url::{Host, Url};

use super::tls::Trust;
use super::{Failure, Resolve, Scope};

/// How many addresses of a host are tried.
const MAX_ADDRESSES: usize = 4;

/// The maximum size of an answer's head, in bytes: four times what common servers send at most.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// The maximum number of fields in an answer's head.
const MAX_FIELDS: usize = 256;

/// A connection, which ends when it is dropped.
pub(super) struct Connection {
    pub(super) sender: SendRequest<Empty<Bytes>>,
    task: AbortHandle,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The parameters of connecting.
pub(super) struct Connector<'c> {
    pub(super) resolver: &'c dyn Resolve,
    pub(super) trust: &'c Trust,
    pub(super) scope: Scope,
    /// The limit for looking the name up, for connecting, and for the TLS handshake.
    pub(super) limit: Duration,
    /// The deadline of everything.
    pub(super) deadline: Instant,
}

impl Connector<'_> {
    /// Connects to the host of a URL.
    pub(super) async fn connect(&self, url: &Url) -> Result<Connection, Failure> {
        let is_secure = url.scheme() == "https";
        if is_secure && !Trust::AVAILABLE {
            return Err(Failure::NoTls);
        }
        let addresses = self.addresses(url).await?;
        self.scope.admit_all(&addresses)?;
        let stream = self.reach(&in_turn(addresses)).await?;
        stream.set_nodelay(true).ok();
        if is_secure {
            let secured = timeout_at(self.soon(), self.trust.secure(url, stream)).await;
            open(secured.map_err(|_| Failure::TlsTimeout)??).await
        } else {
            open(stream).await
        }
    }

    /// Returns the addresses of the host of a URL.
    async fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, Failure> {
        let port = url.port_or_known_default().unwrap_or(80);
        let name = match url.host() {
            Some(Host::Ipv4(address)) => return Ok(vec![(address, port).into()]),
            Some(Host::Ipv6(address)) => return Ok(vec![(address, port).into()]),
            Some(Host::Domain(name)) => name,
            None => return Err(Failure::NoSuchName),
        };
        let resolved = timeout_at(self.soon(), self.resolver.resolve(name, port)).await;
        resolved.map_err(|_| Failure::NoNameServer)?
    }

    /// Connects to the first reachable address.
    async fn reach(&self, addresses: &[SocketAddr]) -> Result<TcpStream, Failure> {
        let mut failed = None;
        let limit = self.soon();
        for (tried, address) in addresses.iter().enumerate() {
            // One that does not answer leaves time for the others.
            let left = limit.saturating_duration_since(Instant::now());
            let share = left / u32::try_from(addresses.len() - tried).unwrap_or(1);
            let connected = timeout(share, TcpStream::connect(address)).await;
            let error = match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok(stream) => return Ok(stream),
                Err(error) => Failure::of_connecting(&error),
            };
            // An error reported by another machine takes precedence over a local one.
            if error != Failure::Local || failed.is_none() {
                failed = Some(error);
            }
        }
        Err(failed.unwrap_or(Failure::NoSuchName))
    }

    fn soon(&self) -> Instant {
        self.deadline.min(Instant::now() + self.limit)
    }
}

/// Returns the addresses to try: IPv6 and IPv4 by turns, in the order in which the resolver prefers
/// them.
fn in_turn(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) = (addresses.into_iter())
        .partition(|address| matches!(address.ip(), IpAddr::V6(_)) == first_is_v6);
    let mut second = second.into_iter();
    let mut turns = Vec::new();
    for address in first {
        turns.push(address);
        turns.extend(second.next());
    }
    turns.extend(second);
    turns.truncate(MAX_ADDRESSES);
    turns
}

/// Starts HTTP/1.1.
///
/// Deviations in a head that browsers tolerate are tolerated here, too: such a link works.
async fn open(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> Result<Connection, Failure> {
    let handshake = http1::Builder::new()
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_FIELDS)
        .title_case_headers(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .ignore_invalid_headers_in_responses(true)
        .handshake(TokioIo::new(stream))
        .await;
    let (sender, connection) = handshake.map_err(|error| Failure::of_request(&error))?;
    // Its errors are reported by the request, which fails with them.
    let task = tokio::spawn(async move { connection.await.unwrap_or_default() });
    Ok(Connection {
        sender,
        task: task.abort_handle(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_are_tried_by_turns() {
        let addresses = |list: &[&str]| -> Vec<SocketAddr> {
            list.iter().map(|text| text.parse().unwrap()).collect()
        };
        let turns = in_turn(addresses(&["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1"]));
        assert_eq!(
            turns,
            addresses(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"])
        );
        let turns = in_turn(addresses(&["1.1.1.1:1", "[::1]:1", "[::2]:1", "[::3]:1"]));
        assert_eq!(
            turns,
            addresses(&["1.1.1.1:1", "[::1]:1", "[::2]:1", "[::3]:1"])
        );
        let many: Vec<_> = (1..9).map(|host| format!("1.1.1.{host}:1")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert_eq!(in_turn(addresses(&many)), addresses(&many[..MAX_ADDRESSES]));
        assert_eq!(in_turn(Vec::new()), []);
    }
}
