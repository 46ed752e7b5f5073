//! A replacement for [`tls`](super) in a program built without it: `https` cannot be requested.

use tokio::net::TcpStream;
use url::Url;

use super::Failure;

/// The trusted authorities: none.
#[derive(Clone)]
pub struct Trust {}

/// Why no host could be trusted: this does not happen.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {}

impl Trust {
    /// Whether this program supports TLS.
    pub(super) const AVAILABLE: bool = false;

    /// Trusts no certificate.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub fn system() -> Result<Self, TrustError> {
        Ok(Self {})
    }

    /// Fails, without TLS.
    pub(super) async fn secure(
        &self,
        _url: &Url,
        _stream: TcpStream,
    ) -> Result<TcpStream, Failure> {
        Err(Failure::NoTls)
    }
}

/// Returns `false`: no host requests a certificate.
pub(super) fn wants_certificate(_error: &hyper::Error) -> bool {
    false
}
