//! Replaces [`tls`](super) in a program built without it: no flags, and the defaults for their
//! absence.

use crate::cli::arguments::ListenAddress;
use crate::cli::terminal::Error;
use crate::server::Tls;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct TlsArgs {}

impl TlsArgs {
    pub(in crate::cli) fn load(&self) -> Result<Option<Tls>, Error> {
        Ok(None)
    }

    pub(in crate::cli) fn https_redirect_listen(&self) -> Option<ListenAddress> {
        None
    }
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Spoken {}

impl Spoken {
    pub(in crate::cli) fn is_tls(&self) -> bool {
        false
    }
}
