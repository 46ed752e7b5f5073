//! A replacement for [`tls`](super) in a program built without it: `https` cannot be asked.

use tokio::net::TcpStream;
use url::Url;

use super::Failure;

/// Which authorities may vouch for a host: none.
#[derive(Clone)]
pub struct Trust {}

/// Why no host could be trusted: this does not happen.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {}

impl Trust {
    /// Whether this program speaks TLS.
    pub(super) const AVAILABLE: bool = false;

    /// Trusts nobody.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub fn system() -> Result<Self, TrustError> {
        Ok(Self {})
    }

    /// Speaks no TLS.
    pub(super) async fn secure(
        &self,
        _url: &Url,
        _stream: TcpStream,
    ) -> Result<TcpStream, Failure> {
        Err(Failure::NoTls)
    }
}

/// Returns that nobody wants a certificate.
pub(super) fn wants_certificate(_error: &hyper::Error) -> bool {
    false
}
