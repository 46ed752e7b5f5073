//! Permitted addresses.
//!
//! A link of a table must not make a checker request anything that only its own machine or network
//! can reach.

use std::net::{IpAddr, SocketAddr};

use super::Failure;
use crate::mapping::Reach;

/// Permitted addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Globally reachable ones.
    #[default]
    Global,
    /// Private ones, too: for an intranet. Never includes link-local addresses, metadata services,
    /// or addresses without hosts.
    Private,
}

impl Scope {
    /// Decides whether an address may be requested.
    fn admit(self, address: IpAddr) -> Result<(), Failure> {
        match (Reach::of(address), self) {
            (Reach::Global, _) | (Reach::Private, Self::Private) => Ok(()),
            (Reach::Private, Self::Global) => Err(Failure::PrivateAddress),
            (Reach::LinkLocal | Reach::Metadata | Reach::Unspecified | Reach::Reserved, _) => {
                Err(Failure::ForbiddenAddress)
            }
        }
    }

    /// Decides whether a host may be requested: each of its addresses must be permitted, whichever
    /// would be used.
    pub(crate) fn admit_all(self, addresses: &[SocketAddr]) -> Result<(), Failure> {
        (addresses.iter()).try_for_each(|address| self.admit(address.ip()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(scope: Scope, addresses: &[&str]) -> Result<(), Failure> {
        let addresses: Vec<_> = addresses
            .iter()
            .map(|address| SocketAddr::new(address.parse().unwrap(), 80))
            .collect();
        scope.admit_all(&addresses)
    }

    /// Each kind of address with its first and last one, if it has several.
    const GLOBAL: [&str; 8] = [
        "8.8.8.8",
        "2606:4700::1111",
        // An address that embeds an IPv4 address is as reachable as that one: mapped, NAT64, 6to4,
        // Teredo.
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "64:ff9b:1::8.8.8.8",
        "2002:808:808::1",
        "2001:0:808:808:8000:0:f7f7:f7f7",
        "3fff:1000::1",
    ];
    const PRIVATE: [&str; 24] = [
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.0",
        "127.255.255.255",
        "172.16.0.0",
        "172.31.255.255",
        "192.168.0.0",
        "192.168.255.255",
        "::1",
        "fc00::",
        "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:192.168.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b:1::192.168.0.1",
        "2002:a00:1::1",
        "2002:7f00:1::1",
        "2001:0:a00:1:8000:0:f7f7:f7f7",
        "2001:0:808:808:8000:0:f5ff:fffe",
        "2001:0:808:808:8000:0:80ff:fffe",
    ];
    const NEVER: [&str; 46] = [
        "0.0.0.0",
        "0.255.255.255",
        "169.254.0.0",
        "169.254.169.254",
        "169.254.255.255",
        "192.0.0.0",
        "192.0.0.255",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.0",
        "239.255.255.255",
        "240.0.0.0",
        "255.255.255.255",
        // Metadata services that are in no registry.
        "100.100.100.200",
        "168.63.129.16",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fd00:42::42",
        "::",
        "::8.8.8.8",
        "::ffff:0.0.0.0",
        "::ffff:169.254.169.254",
        "::ffff:224.0.0.1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::169.254.169.254",
        // Local-use NAT64 with another length of prefix.
        "64:ff9b:1:a00:0:100::",
        "64:ff9b:1:ffff:ffff:ffff:808:808",
        "2002:a9fe:a9fe::1",
        "2001:0:a9fe:a9fe:8000:0:f7f7:f7f7",
        "2001:0:808:808:8000:0:5601:5601",
        "100::1",
        "2001:2::1",
        "2001:20::1",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
        "fe80::",
        "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "fec0::",
        "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "ff00::",
        "ff02::1",
    ];

    #[test]
    fn private_addresses_are_opened_on_request_and_others_never() {
        use Scope::{Global, Private};
        let (private, forbidden) = (Failure::PrivateAddress, Failure::ForbiddenAddress);
        for (addresses, global, on_request) in [
            (&GLOBAL[..], Ok(()), Ok(())),
            (&PRIVATE[..], Err(private), Ok(())),
            (&NEVER[..], Err(forbidden), Err(forbidden)),
        ] {
            for address in addresses {
                assert_eq!(admits(Global, &[address]), global, "{address}");
                assert_eq!(admits(Private, &[address]), on_request, "{address}");
            }
        }
    }

    #[test]
    fn one_refused_address_refuses_the_host() {
        assert_eq!(
            admits(Scope::Global, &["8.8.8.8", "10.0.0.1"]),
            Err(Failure::PrivateAddress)
        );
        assert_eq!(
            admits(Scope::Private, &["8.8.8.8", "10.0.0.1", "169.254.169.254"]),
            Err(Failure::ForbiddenAddress)
        );
    }
}
