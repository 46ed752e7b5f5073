//! What `serve` is told about TLS, and `healthcheck` about `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::{Exit, complain};
use crate::server::Tls;

/// TLS on the public listener.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "TLS")]
pub(super) struct TlsArgs {
    /// Speak TLS on the public listener, with this certificate chain in PEM form
    #[arg(
        long,
        value_name = "FILE",
        env = "WAYPOST_TLS_CERT",
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,

    /// The private key of the certificate, in PEM form
    #[arg(
        long,
        value_name = "FILE",
        env = "WAYPOST_TLS_KEY",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,

    /// Where clients that speak plain HTTP are sent on to HTTPS
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "WAYPOST_HTTPS_REDIRECT_LISTEN",
        requires = "tls_cert"
    )]
    https_redirect_listen: Option<SocketAddr>,
}

impl TlsArgs {
    /// Reads the certificate, if there is to be one; complains and tells how to exit if it cannot
    /// be used.
    pub(super) fn load(&self) -> Result<Option<Tls>, Exit> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else {
            return Ok(None);
        };
        Tls::load(certificate, key).map(Some).map_err(|error| {
            complain(&format!("TLS: {}", error.chain()));
            match error.is_io() {
                true => Exit::Failed,
                false => Exit::Usage,
            }
        })
    }

    pub(super) fn https_redirect_listen(&self) -> Option<SocketAddr> {
        self.https_redirect_listen
    }
}

/// Whether the public listener of the server that is asked speaks TLS.
#[derive(Debug, clap::Args)]
pub(super) struct Spoken {
    /// The same as of `serve`.
    #[arg(long, hide = true, value_name = "FILE", env = "WAYPOST_TLS_CERT")]
    tls_cert: Option<PathBuf>,
}

impl Spoken {
    pub(super) fn is_tls(&self) -> bool {
        self.tls_cert.is_some()
    }
}
