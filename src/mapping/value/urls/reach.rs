//! Where an IP address can be reached from, according to the registries of special-purpose
//! addresses (RFC 6890 and its successors).
//!
//! An IPv6 address that carries an IPv4 address is judged by that one: a translator or a tunnel would
//! go there. Addresses that the registries do not cover, but clouds use, are here too: their
//! metadata services give credentials to any client.

// `core` has the addresses, but no sockets.
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// From where an address can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// From everywhere.
    Global,
    /// From inside one network, or from one machine: private use, shared address space, loopback,
    /// unique local.
    Private,
    /// From one link only.
    LinkLocal,
    /// From inside a cloud's machine: a service that describes it, often with its credentials.
    Metadata,
    /// From nowhere: unspecified, or "this network".
    Unspecified,
    /// From nowhere, presumably: multicast, broadcast, documentation, benchmarks, reserved.
    Reserved,
}

/// Addresses of metadata services that no registry names: Alibaba Cloud, Azure, Oracle Cloud.
/// That of nearly all others is link-local.
const METADATA_V4: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];

/// The same for IPv6, all unique local: AWS, Google Cloud, Scaleway.
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
];

impl Reach {
    /// Returns from where an address can be reached.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    pub(super) fn of_v4(address: Ipv4Addr) -> Self {
        if METADATA_V4.contains(&address) {
            return Self::Metadata;
        }
        match address.octets() {
            [0, ..] => Self::Unspecified,
            [10 | 127, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => {
                Self::Private
            }
            [169, 254, ..] => Self::LinkLocal,
            // Protocol assignments; TEST-NET-1, -2 and -3; relays of 6to4; benchmarks.
            [192, 0, 0 | 2, _]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
            | [192, 88, 99, _]
            | [198, 18 | 19, ..] => Self::Reserved,
            // Multicast, future use, broadcast.
            [224..=255, ..] => Self::Reserved,
            _ => Self::Global,
        }
    }

    pub(super) fn of_v6(address: Ipv6Addr) -> Self {
        if METADATA_V6.contains(&address) {
            return Self::Metadata;
        }
        let segments = address.segments();
        let embedded = |at: usize| {
            let [[a, b], [c, d]] = [segments[at], segments[at + 1]].map(u16::to_be_bytes);
            Ipv4Addr::new(a, b, c, d)
        };
        match segments {
            [0, 0, 0, 0, 0, 0, 0, 0] => Self::Unspecified,
            [0, 0, 0, 0, 0, 0, 0, 1] => Self::Private,
            // Mapped (RFC 4291, section 2.5.5.2), and translated by the well-known prefix (RFC 6052,
            // section 2.1) or that for local use (RFC 8215), in its form for 96 bits: in others the
            // IPv4 address could be in several places.
            [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0 | 1, 0, 0, 0, ..] => {
                Self::of_v4(embedded(6))
            }
            [0xfc00..=0xfdff, ..] => Self::Private,
            [0xfe80..=0xfebf, ..] => Self::LinkLocal,
            // Teredo (RFC 4380, section 4): the server, and the client with its bits inverted.
            [0x2001, 0, ..] => {
                let client = Self::of_v4(Ipv4Addr::from_bits(!embedded(6).to_bits()));
                match Self::of_v4(embedded(2)) {
                    Self::Global => client,
                    server => server,
                }
            }
            // Other protocol assignments, none of them for web servers; documentation.
            [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Self::Reserved,
            // 6to4 (RFC 3056, section 2).
            [0x2002, ..] => Self::of_v4(embedded(1)),
            // Global unicast, the only space that is allocated so far.
            [0x2000..=0x3fff, ..] => Self::Global,
            _ => Self::Reserved,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn all(reach: Reach, addresses: &[&str]) {
        for address in addresses {
            assert_eq!(Reach::of(address.parse().unwrap()), reach, "{address}");
        }
    }

    #[test]
    fn knows_global_addresses_up_to_their_edges() {
        all(
            Reach::Global,
            &[
                "1.0.0.0",
                "8.8.8.8",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.0",
                "192.0.3.0",
                "192.88.98.255",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "2000::1",
                "2001:200::1",
                "2001:4860:4860::8888",
                "2001:db7:ffff::",
                "2001:db9::",
                "3ffe::1",
                "3fff:1000::",
                "2606:4700::1111",
            ],
        );
    }

    #[test]
    fn knows_private_addresses_up_to_their_edges() {
        all(
            Reach::Private,
            &[
                "10.0.0.0",
                "10.255.255.255",
                "100.64.0.0",
                "100.127.255.255",
                "127.0.0.1",
                "127.255.255.255",
                "172.16.0.0",
                "172.31.255.255",
                "192.168.0.0",
                "192.168.255.255",
                "::1",
                "fc00::",
                "fd00::1",
                "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            ],
        );
        all(
            Reach::LinkLocal,
            &["169.254.0.0", "169.254.169.254", "fe80::1", "febf::1"],
        );
    }

    #[test]
    fn knows_addresses_that_must_not_be_contacted() {
        all(Reach::Unspecified, &["0.0.0.0", "0.255.255.255", "::"]);
        all(
            Reach::Metadata,
            &[
                "100.100.100.200",
                "168.63.129.16",
                "192.0.0.192",
                "fd00:ec2::254",
                "fd20:ce::254",
                "fd00:42::42",
                "::ffff:168.63.129.16",
            ],
        );
        all(
            Reach::Reserved,
            &[
                "192.0.0.0",
                "192.0.2.1",
                "192.88.99.1",
                "198.18.0.0",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                "::2",
                "::8.8.8.8",
                "100::1",
                "64:ff9b:1:1::808:808",
                "64:ff9b:1:a00:1::",
                "64:ff9b:2::808:808",
                "2001:1::1",
                "2001:2::1",
                "2001:20::1",
                "2001:1ff:ffff::",
                "2001:db8::1",
                "3fff:fff::1",
                "4000::1",
                "5f00::1",
                "fbff::1",
                "fe00::1",
                "fec0::1",
                "ff02::1",
            ],
        );
    }

    #[test]
    fn judges_by_the_embedded_address() {
        for (v4, reach) in [
            ("8.8.8.8", Reach::Global),
            ("10.0.0.1", Reach::Private),
            ("169.254.169.254", Reach::LinkLocal),
            ("0.0.0.0", Reach::Unspecified),
            ("224.0.0.1", Reach::Reserved),
        ] {
            let [a, b, c, d] = v4.parse::<Ipv4Addr>().unwrap().octets();
            let hex = format!("{a:02x}{b:02x}:{c:02x}{d:02x}");
            let [e, f, g, h] = [a, b, c, d].map(|byte| !byte);
            let inverted = format!("{e:02x}{f:02x}:{g:02x}{h:02x}");
            all(
                reach,
                &[
                    &format!("::ffff:{v4}"),
                    &format!("64:ff9b::{hex}"),
                    &format!("64:ff9b:1::{hex}"),
                    &format!("2002:{hex}::1"),
                    &format!("2001:0:{hex}:8000:0:f7f7:f7f7"),
                    &format!("2001:0:0808:0808:8000:0:{inverted}"),
                ],
            );
        }
    }
}
