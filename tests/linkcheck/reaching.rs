//! From a name to a connection: which addresses may be requested, and how TLS may fail.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use waypost::linkcheck::{Failure, Scope};

use crate::farm::Farm;
use crate::fixture::{client_of, head, send};

#[tokio::test]
async fn every_address_of_a_name_must_be_permitted() {
    let farm = Farm::start().await;
    let at = |address: IpAddr| SocketAddr::new(address, farm.plain.port());
    let metadata = at(Ipv4Addr::new(169, 254, 169, 254).into());
    let resolver = farm
        .resolver()
        .with("metadata", Ok(vec![farm.plain, metadata]))
        .with(
            "hidden",
            Ok(vec![at(Ipv4Addr::new(127, 0, 0, 1)
                .to_ipv6_mapped()
                .into())]),
        );
    let global = client_of(&farm, resolver.clone()).in_scope(Scope::Global);
    let private = client_of(&farm, resolver);
    for (host, of_global, of_private) in [
        ("plain.farm.example", Failure::PrivateAddress, None),
        ("hidden.farm.example", Failure::PrivateAddress, None),
        (
            "metadata.farm.example",
            Failure::PrivateAddress,
            Some(Failure::ForbiddenAddress),
        ),
        (
            "169.254.169.254",
            Failure::ForbiddenAddress,
            Some(Failure::ForbiddenAddress),
        ),
        (
            "[fd00:ec2::254]",
            Failure::ForbiddenAddress,
            Some(Failure::ForbiddenAddress),
        ),
        (
            "0",
            Failure::ForbiddenAddress,
            Some(Failure::ForbiddenAddress),
        ),
    ] {
        let url = format!("http://{host}/");
        assert_eq!(send(&global, head(&url)).await, Err(of_global), "{host}");
        let result = send(&private, head(&url)).await;
        assert_eq!(result.err(), of_private, "{host}");
    }
    // No forbidden address was connected to.
    assert_eq!(farm.log.of("metadata"), [""; 0]);
}

#[tokio::test]
async fn either_family_of_addresses_suffices() {
    let farm = Farm::start().await;
    let closed = closed_port();
    let mut resolver = farm
        .resolver()
        .with("second", Ok(vec![closed, farm.plain]))
        .with("refused", Ok(vec![closed]));
    if let Some(v6) = farm.plain_v6 {
        resolver = resolver.with("only-v6", Ok(vec![v6])).with(
            "v6-is-closed",
            Ok(vec![
                SocketAddr::new(Ipv6Addr::LOCALHOST.into(), closed.port()),
                farm.plain,
            ]),
        );
    }
    let client = client_of(&farm, resolver);
    for name in ["second", "only-v6", "v6-is-closed"] {
        let url = format!("http://{name}.farm.example/");
        assert!(send(&client, head(&url)).await.is_ok(), "{name}");
    }
    let refused = send(&client, head("http://refused.farm.example/")).await;
    assert_eq!(refused, Err(Failure::Refused));
}

#[tokio::test]
async fn failures_of_names_are_distinguished() {
    let farm = Farm::start().await;
    let resolver = farm
        .resolver()
        .with("gone", Err(Failure::NoSuchName))
        .with("broken", Err(Failure::NoNameServer));
    let client = client_of(&farm, resolver);
    for (name, failure) in [
        ("gone", Failure::NoSuchName),
        ("broken", Failure::NoNameServer),
    ] {
        let url = format!("http://{name}.farm.example/");
        assert_eq!(send(&client, head(&url)).await, Err(failure));
    }
}

/// Returns an address at which nothing listens, and nothing else will: the socket stays bound.
fn closed_port() -> SocketAddr {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket
        .bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())
        .unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    // Bound until the process ends.
    std::mem::forget(socket);
    address
}

#[cfg(feature = "tls")]
mod secure {
    use std::time::Duration;

    use waypost::linkcheck::{CertificateProblem, Failure, Limits};

    use crate::farm::{Farm, Handshake};
    use crate::fixture::{LONG, client, get, head, send};

    #[tokio::test]
    async fn https_is_asked_and_its_certificate_checked() {
        let farm = Farm::start().await;
        for (name, handshake) in [
            ("expired", Handshake::Expired),
            ("wrong-name", Handshake::WrongName),
            ("untrusted", Handshake::Untrusted),
            ("incompatible", Handshake::Incompatible),
            ("wants-certificate", Handshake::WantsCertificate),
            ("garbage", Handshake::Garbage),
            ("closed", Handshake::Closed),
        ] {
            farm.authority.breaks(name, handshake);
        }
        let client = client(&farm);
        for (name, failure) in [
            ("good", None),
            (
                "expired",
                Some(Failure::Certificate(CertificateProblem::Expired)),
            ),
            (
                "wrong-name",
                Some(Failure::Certificate(CertificateProblem::WrongName)),
            ),
            (
                "untrusted",
                Some(Failure::Certificate(CertificateProblem::UnknownIssuer)),
            ),
            ("incompatible", Some(Failure::TlsIncompatible)),
            ("wants-certificate", Some(Failure::ClientCertificate)),
            ("garbage", Some(Failure::Tls)),
            ("closed", Some(Failure::Tls)),
        ] {
            let url = format!("https://{name}.farm.example/");
            assert_eq!(send(&client, get(&url)).await.err(), failure, "{name}");
        }
        assert_eq!(farm.log.of("good"), ["GET /"]);
        assert_eq!(farm.log.all().len(), 1);
    }

    #[tokio::test]
    async fn a_handshake_does_not_take_for_ever() {
        let farm = Farm::start().await;
        farm.authority.breaks("hangs", Handshake::Hangs);
        let connect = Duration::from_millis(300);
        let client = client(&farm).within(Limits { connect, ..LONG });
        let result = send(&client, head("https://hangs.farm.example/")).await;
        assert_eq!(result, Err(Failure::TlsTimeout));
    }

    #[tokio::test]
    async fn a_connection_with_tls_is_used_again_with_tls_alone() {
        let farm = Farm::start().await;
        let client = client(&farm);
        let mut session = client.session();
        let mut fresh = Vec::new();
        for scheme in ["https", "https", "http", "http"] {
            let url = format!("{scheme}://a.farm.example/");
            let round_trip = session.send(&get(&url)).await;
            assert!(round_trip.result.is_ok());
            fresh.push(round_trip.is_fresh);
        }
        assert_eq!(fresh, [true, false, true, false]);
    }
}

#[cfg(not(feature = "tls"))]
#[tokio::test]
async fn https_cannot_be_checked_without_tls() {
    use crate::fixture::client;

    let farm = Farm::start().await;
    let result = send(&client(&farm), head("https://a.farm.example/")).await;
    assert_eq!(result, Err(Failure::NoTls));
}
