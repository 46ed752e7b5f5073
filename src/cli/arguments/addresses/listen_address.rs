//! Addresses to listen on, as users write them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// An address to listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListenAddress {
    /// An address that was written out, which may be one that other machines reach.
    At(SocketAddr),
    /// A port of this machine alone: 127.0.0.1 and, where there is one, ::1.
    Localhost(u16),
}

impl ListenAddress {
    /// Returns the address, the one of IPv4 if there are two.
    pub(crate) fn first(self) -> SocketAddr {
        match self {
            Self::At(address) => address,
            Self::Localhost(port) => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
        }
    }

    /// Returns the IP address to listen on as well, with the port of the first address.
    pub(crate) fn second(self) -> Option<IpAddr> {
        match self {
            Self::At(_) => None,
            Self::Localhost(_) => Some(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        }
    }
}

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(address) = text.parse() {
            return Ok(Self::At(address));
        }
        let port = match text.rsplit_once(':') {
            Some((host, port)) if host.is_empty() || host.eq_ignore_ascii_case("localhost") => port,
            None => text,
            Some(_) => "",
        };
        // `parse` would accept a sign, which is not a valid form.
        let digits = port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|_| digits);
        port.map(Self::Localhost).ok_or(
            "write a port of this machine, as in 8080 or localhost:8080, or an IP address with a \
             port, as in 0.0.0.0:8080 for every IPv4 address or [::]:8080 for all",
        )
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(address) => address.fmt(f),
            Self::Localhost(port) => write!(f, "localhost:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_that_is_written_out_leaves_this_machine() {
        for text in ["8080", ":8080", "localhost:8080", "LOCALHOST:8080"] {
            let address: ListenAddress = text.parse().unwrap();
            assert_eq!(address, ListenAddress::Localhost(8080), "{text}");
            assert!(address.first().ip().is_loopback());
            assert!(address.second().is_some_and(|ip| ip.is_loopback()));
        }
        for text in [
            "0.0.0.0:80",
            "[::]:80",
            "127.0.0.1:0",
            "[::1]:8080",
            "192.0.2.1:8080",
        ] {
            let address: ListenAddress = text.parse().unwrap();
            assert_eq!(address, ListenAddress::At(text.parse().unwrap()));
            assert_eq!(
                (address.first().to_string(), address.second()),
                (text.to_owned(), None)
            );
        }
        for text in [
            "",
            ":",
            "localhost",
            "localhost:",
            "65536",
            "+80",
            "*:80",
            "e.org:80",
            "::1:x",
        ] {
            assert!(text.parse::<ListenAddress>().is_err(), "{text}");
        }
    }
}
