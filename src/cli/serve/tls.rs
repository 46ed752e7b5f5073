//! The flags of `serve` about TLS, and those of `healthcheck` about the server.

use std::path::PathBuf;

use crate::cli::arguments::ListenAddress;
use crate::cli::terminal::Error;
use crate::server::Tls;

/// TLS on the public listener.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "TLS")]
pub(in crate::cli) struct TlsArgs {
    /// Use TLS on the public listener, with this certificate chain (PEM)
    // Which flags go together is checked below: half of them, in variables, must not be dropped
    // silently.
    #[arg(long, value_name = "FILE", env = "WAYPOST_TLS_CERT")]
    tls_cert: Option<PathBuf>,

    /// The private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", env = "WAYPOST_TLS_KEY")]
    tls_key: Option<PathBuf>,

    /// The address on which plain HTTP requests are redirected to HTTPS
    #[arg(long, value_name = "ADDRESS", env = "WAYPOST_HTTPS_REDIRECT_LISTEN")]
    https_redirect_listen: Option<ListenAddress>,
}

impl TlsArgs {
    /// Reads the certificate, if one is configured.
    pub(in crate::cli) fn load(&self) -> Result<Option<Tls>, Error> {
        let (certificate, key) = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => (certificate, key),
            (None, None) if self.https_redirect_listen.is_none() => return Ok(None),
            (None, None) => {
                return Err(Error::usage(
                    "--https-redirect-listen requires --tls-cert and --tls-key",
                ));
            }
            _ => {
                return Err(Error::usage("--tls-cert and --tls-key require each other"));
            }
        };
        Tls::load(certificate, key).map(Some).map_err(|error| {
            let kind = match error.is_io() {
                true => Error::Failed,
                false => Error::Usage,
            };
            kind(anyhow::Error::from(error).context("TLS"))
        })
    }

    pub(in crate::cli) fn https_redirect_listen(&self) -> Option<ListenAddress> {
        self.https_redirect_listen
    }
}

/// Whether the public listener of the server that is asked speaks TLS.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Spoken {
    /// The same as of `serve`.
    #[arg(long, hide = true, value_name = "FILE", env = "WAYPOST_TLS_CERT")]
    tls_cert: Option<PathBuf>,
}

impl Spoken {
    pub(in crate::cli) fn is_tls(&self) -> bool {
        self.tls_cert.is_some()
    }
}
