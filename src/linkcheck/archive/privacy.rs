//! Pages that are not looked up in an archive: those of private hosts, whose URLs must stay
//! private.

use std::net::{IpAddr, SocketAddr};

use url::Host;

use crate::linkcheck::request::{Resolve, Scope, WebUrl};

/// The last labels of names that are used in private networks (RFC 6761, RFC 6762, RFC 8375, RFC 6762
/// appendix G, and what ICANN has set aside).
const PRIVATE: [&str; 11] = [
    "corp",
    "domain",
    "home",
    "home.arpa",
    "internal",
    "intranet",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "private",
];

/// Returns whether the URL of a page may be disclosed: its host is not private by its name or
/// address. If private hosts are checked, its name is also looked up, and a host without an address
/// could be private.
pub async fn may_be_named(page: &WebUrl, scope: Scope, resolver: &dyn Resolve) -> bool {
    let url = page.url();
    let port = url.port_or_known_default().unwrap_or_default();
    let is_global = |address: IpAddr| {
        let address = SocketAddr::new(address, port);
        Scope::Global.admit_all(&[address]).is_ok()
    };
    match url.host() {
        Some(Host::Ipv4(address)) => is_global(address.into()),
        Some(Host::Ipv6(address)) => is_global(address.into()),
        Some(Host::Domain(name)) if has_private_name(name) => false,
        Some(Host::Domain(name)) => match scope {
            // A host with a private address was never requested, so it is not known to be dead.
            Scope::Global => true,
            Scope::Private => match resolver.resolve(name, port).await {
                Ok(addresses) => Scope::Global.admit_all(&addresses).is_ok(),
                Err(_) => false,
            },
        },
        None => false,
    }
}

fn has_private_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    let is_below = |last: &str| {
        let above = name.strip_suffix(last);
        above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
    };
    !name.contains('.') || PRIVATE.into_iter().any(is_below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linkcheck::request::{Failure, Resolving};

    /// Knows one public and one private host.
    #[derive(Debug)]
    struct TwoHosts;

    impl Resolve for TwoHosts {
        fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
            let address = match host {
                "public.example" => Ok(IpAddr::from([8, 8, 8, 8])),
                "vpn.example" => Ok(IpAddr::from([10, 0, 0, 1])),
                _ => Err(Failure::NoSuchName),
            };
            Box::pin(async move { address.map(|address| vec![SocketAddr::new(address, port)]) })
        }
    }

    #[tokio::test]
    async fn private_hosts_are_not_named() {
        for (url, [global, private]) in [
            ("https://public.example/a", [true, true]),
            ("https://vpn.example/a", [true, false]),
            ("https://lost.example/a", [true, false]),
            ("https://wiki/a", [false, false]),
            ("https://wiki.corp/a", [false, false]),
            ("https://wiki.home.arpa./a", [false, false]),
            ("https://notcorp.example.corporate/a", [true, false]),
            ("http://localhost:8080/", [false, false]),
            ("http://192.168.1.1/", [false, false]),
            ("http://8.8.8.8/", [true, true]),
            ("http://[fd00::1]/", [false, false]),
        ] {
            let page = WebUrl::parse(url).unwrap();
            assert_eq!(
                may_be_named(&page, Scope::Global, &TwoHosts).await,
                global,
                "{url}"
            );
            assert_eq!(
                may_be_named(&page, Scope::Private, &TwoHosts).await,
                private,
                "{url}"
            );
        }
    }
}
