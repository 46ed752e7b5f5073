//! Which addresses may be asked.
//!
//! A link of a table must not lead a checker to what only the checker's machine or network can reach.

use std::net::{IpAddr, SocketAddr};

use super::Failure;
use crate::mapping::Reach;

/// Which addresses may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Globally reachable ones.
    #[default]
    Global,
    /// Private ones, too: for an intranet. Never opens link-local addresses, metadata services, or
    /// those at which there can be no host.
    Private,
}

impl Scope {
    /// Decides whether an address may be asked.
    fn admit(self, address: IpAddr) -> Result<(), Failure> {
        match (Reach::of(address), self) {
            (Reach::Global, _) | (Reach::Private, Self::Private) => Ok(()),
            (Reach::Private, Self::Global) => Err(Failure::PrivateAddress),
            (Reach::LinkLocal | Reach::Metadata | Reach::Unspecified | Reach::Reserved, _) => {
                Err(Failure::ForbiddenAddress)
            }
        }
    }

    /// Decides whether a host may be asked: each of its addresses must be permitted, whichever would
    /// be connected to.
    pub(super) fn admit_all(self, addresses: &[SocketAddr]) -> Result<(), Failure> {
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

    #[test]
    fn private_addresses_are_opened_on_request() {
        for private in ["10.0.0.1", "127.0.0.1", "100.64.0.1", "::1", "fd00::1"] {
            let refused = Err(Failure::PrivateAddress);
            assert_eq!(admits(Scope::Global, &[private]), refused, "{private}");
            assert_eq!(admits(Scope::Private, &[private]), Ok(()), "{private}");
        }
        for scope in [Scope::Global, Scope::Private] {
            assert_eq!(admits(scope, &["8.8.8.8", "2606:4700::1111"]), Ok(()));
            for never in [
                "169.254.169.254",
                "fe80::1",
                "fd00:ec2::254",
                "100.100.100.200",
                "0.0.0.0",
                "::",
                "224.0.0.1",
                "255.255.255.255",
                "192.0.2.1",
                "::ffff:169.254.169.254",
                "64:ff9b::a9fe:a9fe",
            ] {
                let refused = Err(Failure::ForbiddenAddress);
                assert_eq!(admits(scope, &[never]), refused, "{never}");
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
