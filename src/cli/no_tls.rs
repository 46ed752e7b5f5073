//! Replaces [`tls`](super) in a program built without it: no flags, and the defaults for their
//! absence.

use super::arguments::ListenAddress;
use super::terminal::Error;
use crate::server::Tls;

#[derive(Debug, clap::Args)]
pub(super) struct TlsArgs {}

impl TlsArgs {
    pub(super) fn load(&self) -> Result<Option<Tls>, Error> {
        Ok(None)
    }

    pub(super) fn https_redirect_listen(&self) -> Option<ListenAddress> {
        None
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Spoken {}

impl Spoken {
    pub(super) fn is_tls(&self) -> bool {
        false
    }
}
