//! The addresses of the listeners of `serve`, at which `healthcheck` asks.

use std::env;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::listen_address::ListenAddress;
use crate::cli::terminal::Error;

const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// The addresses of the listeners.
#[derive(Debug, clap::Args)]
pub(crate) struct ListenArgs {
    /// The address on which short links are served [default: 127.0.0.1:8080, or port $PORT on every
    /// address]
    ///
    /// A port alone, as in 8080 or localhost:8080, is open to this machine only: 127.0.0.1 and ::1.
    /// To accept connections from other machines, give an IP address, as in 0.0.0.0:8080 or
    /// [::]:8080.
    #[arg(
        help_heading = "Network",
        long,
        value_name = "ADDRESS",
        env = "WAYPOST_LISTEN"
    )]
    listen: Option<ListenAddress>,

    /// The address of the admin listener, for operators: health, metrics, status, reload
    #[arg(
        help_heading = "Network",
        long,
        value_name = "ADDRESS",
        env = "WAYPOST_ADMIN_LISTEN",
        default_value = "127.0.0.1:8081"
    )]
    admin_listen: ListenAddress,
}

impl ListenArgs {
    /// Returns the public address.
    ///
    /// # Errors
    ///
    /// If the variable `PORT`, which platforms set, is needed and is not a port.
    pub(crate) fn public(&self) -> Result<ListenAddress, Error> {
        if let Some(listen) = self.listen {
            return Ok(listen);
        }
        let assigned = env::var_os("PORT").filter(|port| !port.is_empty());
        let Some(port) = assigned else {
            return Ok(ListenAddress::At(DEFAULT_LISTEN));
        };
        let port = port.to_str().and_then(|port| port.parse().ok());
        let port = port.ok_or_else(|| Error::usage("the variable PORT is not a port number"))?;
        let everywhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Ok(ListenAddress::At(SocketAddr::new(everywhere, port)))
    }

    /// Returns the operators' address.
    pub(crate) fn admin(&self) -> ListenAddress {
        self.admin_listen
    }
}
