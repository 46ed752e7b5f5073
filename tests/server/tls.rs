//! TLS: handshakes, and certificates that change under a running server.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConnection;
use tokio_rustls::rustls::version::TLS12;
use waypost::server::{Config, Signal, Timeouts, Tls, TlsError};

use crate::secure::{Authority, Secure, TABLE, load, name};
use crate::support::{FOREVER, Running, head_of, quiet, rest, soon, until};

const REQUEST: &[u8] = b"GET /x HTTP/1.1\r\nHost: short.code\r\n\r\n";
const LAST: &[u8] = b"GET /x HTTP/1.1\r\nHost: short.code\r\nConnection: close\r\n\r\n";
const FOUND: &str = "HTTP/1.1 302 Found";

fn hasty() -> Config {
    Config {
        timeouts: Timeouts {
            head: Duration::from_millis(300),
            idle: FOREVER * 2,
            stall: FOREVER * 2,
        },
        ..quiet()
    }
}

#[tokio::test]
async fn a_link_is_followed() {
    let secure = Secure::start(quiet()).await;
    let mut stream = secure.connect(&[]).await;
    for _ in 0..2 {
        stream.write_all(REQUEST).await.unwrap();
        let reply = head_of(&mut stream).await;
        assert_eq!(reply.status_line(), FOUND);
        assert_eq!(reply.header("strict-transport-security"), None);
    }
    stream.write_all(LAST).await.unwrap();
    // Its end is a TLS end: reading to it would fail otherwise.
    assert_eq!(rest(&mut stream).await.status_line(), FOUND);
}

#[tokio::test]
async fn the_protocol_is_the_clients_choice_among_ours() {
    let secure = Secure::start(quiet()).await;
    for (offered, chosen) in [
        (&[&b"h2"[..], b"http/1.1"][..], Some(&b"h2"[..])),
        (&[b"http/1.1", b"h2"], Some(b"h2")),
        (&[b"http/1.1"], Some(b"http/1.1")),
        (&[], None),
    ] {
        let stream = secure.connect(offered).await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), chosen);
    }
    let stream = secure.server.connect().await;
    let connector = secure.authority.connector(&[b"imap"]);
    assert!(soon(connector.connect(name(), stream)).await.is_err());
}

#[tokio::test]
async fn tls_1_2_is_spoken_too() {
    let secure = Secure::start(quiet()).await;
    let client = secure.authority.client_of(&[&TLS12], &[]);
    let connector = TlsConnector::from(Arc::new(client));
    let stream = secure.server.connect().await;
    let mut stream = soon(connector.connect(name(), stream)).await.unwrap();
    stream.write_all(LAST).await.unwrap();
    assert_eq!(rest(&mut stream).await.status_line(), FOUND);
}

#[tokio::test]
async fn who_speaks_no_tls_gets_no_answer() {
    let secure = Secure::start(quiet()).await;
    let reply = secure.server.say(REQUEST).await;
    // At most an alert.
    assert!(!reply.to_string().contains("HTTP"), "{reply}");
    until(async || secure.server.metric("waypost_connections").await == Some(0.0)).await;
}

/// Returns the first flight of a client.
fn hello(secure: &Secure) -> (ClientConnection, Vec<u8>) {
    let config = Arc::new(secure.authority.client(&[]));
    let mut client = ClientConnection::new(config, name()).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    (client, bytes)
}

#[tokio::test]
async fn who_does_not_finish_a_handshake_is_given_up_on() {
    let secure = Secure::start(hasty()).await;
    let mut silent = secure.server.connect().await;
    assert_eq!(rest(&mut silent).await.0, b"");

    let (_, bytes) = hello(&secure);
    // All but the end of a hello, byte by byte.
    let mut dribbling = secure.server.connect().await;
    for byte in &bytes[..bytes.len() - 1] {
        dribbling.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(rest(&mut dribbling).await.0, b"");

    // A whole hello, and then nothing.
    let mut mute = secure.server.connect().await;
    mute.write_all(&bytes).await.unwrap();
    soon(mute.read_to_end(&mut Vec::new())).await.unwrap();

    // A whole handshake, and then nothing, or half a request.
    for said in [&b""[..], &REQUEST[..20]] {
        let mut idle = secure.connect(&[]).await;
        idle.write_all(said).await.unwrap();
        // Cut off, or closed in order.
        let _ = soon(idle.read_to_end(&mut Vec::new())).await;
    }
    until(async || secure.server.metric("waypost_connections").await == Some(0.0)).await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_given_up_on() {
    let config = Config {
        timeouts: Timeouts {
            head: FOREVER * 2,
            idle: FOREVER * 2,
            stall: Duration::from_millis(50),
        },
        ..quiet()
    };
    let secure = Secure::start(config).await;
    let mut stream = secure.connect(&[]).await;
    let page = b"GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n".repeat(100);
    soon(async { while stream.write_all(&page).await.is_ok() {} }).await;
}

#[tokio::test]
async fn what_has_begun_before_the_end_is_finished() {
    let config = Config {
        drain_timeout: FOREVER * 2,
        ..quiet()
    };
    let secure = Secure::start(config).await;
    let mut begun = secure.connect(&[]).await;
    begun.write_all(b"GET /x HTTP/1.1\r\n").await.unwrap();
    let _silent = secure.server.connect().await;
    // A client that is in the middle of its handshake.
    let (mut client, bytes) = hello(&secure);
    let mut stream = secure.server.connect().await;
    stream.write_all(&bytes).await.unwrap();
    let first = soon(stream.read_u8()).await.unwrap();

    secure.server.signals.send(Signal::Terminate).await.unwrap();
    let public = secure.server.public;
    until(async || TcpStream::connect(public).await.is_err()).await;

    begun.write_all(b"Host: a\r\n\r\n").await.unwrap();
    let reply = rest(&mut begun).await;
    assert_eq!(reply.status_line(), FOUND);
    assert_eq!(reply.header("connection").unwrap(), "close");

    client.writer().write_all(LAST).unwrap();
    let answer = finish(&mut client, stream, first).await;
    assert!(answer.starts_with(FOUND), "{answer}");
    secure.server.until_ended().await;
}

/// Goes on with a handshake from its first byte, and returns all that is said after it.
async fn finish(client: &mut ClientConnection, mut stream: TcpStream, first: u8) -> String {
    let mut came = vec![first];
    let mut answer = Vec::new();
    loop {
        let mut rest = &came[..];
        while !rest.is_empty() {
            client.read_tls(&mut rest).unwrap();
            client.process_new_packets().unwrap();
        }
        match client.reader().read_to_end(&mut answer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            ended => {
                ended.unwrap();
                return String::from_utf8(answer).unwrap();
            }
        }
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        stream.write_all(&bytes).await.unwrap();
        came = vec![0; 16_384];
        let read = soon(stream.read(&mut came)).await.unwrap();
        assert_ne!(read, 0, "the server hung up");
        came.truncate(read);
    }
}

/// Returns whether a new client is shown this certificate.
async fn shows(secure: &Secure, certificate: &crate::secure::Issued) -> bool {
    let stream = secure.connect(&[]).await;
    stream.get_ref().1.peer_certificates().unwrap()[0] == certificate.der
}

#[tokio::test]
async fn a_new_certificate_is_taken_up_under_load_and_old_connections_stay() {
    // As Kubernetes lays out a secret: the names are links into a directory that is a link.
    let config = Config {
        poll_interval: Duration::from_millis(5),
        ..quiet()
    };
    let authority = Authority::new();
    let (first, second) = (authority.issue(), authority.issue());
    let pair = tempfile::tempdir().unwrap();
    let within = |file: &str| pair.path().join(file);
    for (name, issued) in [("..1", &first), ("..2", &second)] {
        fs::create_dir(within(name)).unwrap();
        issued.write(&within(name));
    }
    symlink("..1", within("..data")).unwrap();
    for file in ["cert.pem", "key.pem"] {
        symlink(format!("..data/{file}"), within(file)).unwrap();
    }
    let config = Config {
        tls: Some(load(pair.path())),
        ..config
    };
    let secure = Arc::new(Secure {
        server: Running::configured(config, TABLE).await,
        authority,
        issued: first,
        pair,
    });
    let mut kept = secure.connect(&[]).await;
    kept.write_all(REQUEST).await.unwrap();
    head_of(&mut kept).await;

    let done = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..3)
        .map(|_| {
            let (secure, done) = (Arc::clone(&secure), Arc::clone(&done));
            tokio::spawn(async move {
                let mut served = 0;
                while !done.load(Ordering::Relaxed) {
                    let mut stream = secure.connect(&[]).await;
                    stream.write_all(LAST).await.unwrap();
                    assert_eq!(rest(&mut stream).await.status_line(), FOUND);
                    served += 1;
                }
                served
            })
        })
        .collect();
    assert!(shows(&secure, &secure.issued).await);
    symlink("..2", secure.path("..new")).unwrap();
    fs::rename(secure.path("..new"), secure.path("..data")).unwrap();
    until(async || shows(&secure, &second).await).await;
    done.store(true, Ordering::Relaxed);
    for client in clients {
        assert!(soon(client).await.unwrap() > 0);
    }
    kept.write_all(LAST).await.unwrap();
    assert_eq!(rest(&mut kept).await.status_line(), FOUND);
    let expiry = "waypost_tls_certificate_expiry_timestamp_seconds";
    assert_eq!(secure.server.metric(expiry).await, Some(3_976_214_400.0));
}

#[tokio::test]
async fn a_good_pair_must_have_had_a_rest_unless_somebody_asks() {
    let authority = Authority::new();
    let (first, second) = (authority.issue(), authority.issue());
    let pair = tempfile::tempdir().unwrap();
    first.write(pair.path());
    let never = Duration::from_secs(3600);
    let (certificate, key) = (pair.path().join("cert.pem"), pair.path().join("key.pem"));
    let config = Config {
        poll_interval: Duration::from_millis(5),
        tls: Some(Tls::load_resting(&certificate, &key, never).unwrap()),
        ..quiet()
    };
    let secure = Secure {
        server: Running::configured(config, TABLE).await,
        authority,
        issued: first,
        pair,
    };
    // The rest of its chain may be still to come.
    second.write(secure.pair.path());
    let looks = async || {
        let count = "waypost_reload_duration_seconds_count";
        secure.server.metric(count).await.unwrap()
    };
    let before = looks().await;
    until(async || looks().await >= before + 20.0).await;
    assert!(shows(&secure, &secure.issued).await);
    secure.server.reload().await;
    assert!(shows(&secure, &second).await);
}

#[tokio::test]
async fn a_bad_pair_is_rejected_and_reported() {
    let secure = Secure::start(quiet()).await;
    let (other, next) = (secure.authority.issue(), secure.authority.issue());
    for (file, text, report) in [
        (
            "key.pem",
            &*other.key,
            "does not match the first certificate",
        ),
        ("key.pem", "", "contains no private key"),
        ("cert.pem", "nothing", "contains no certificate"),
    ] {
        fs::write(secure.path(file), text).unwrap();
        secure.server.reload().await;
        let status = secure.server.status().await;
        let message = status["tls"]["last_error"]["message"].as_str().unwrap();
        assert!(message.contains(report), "{message}");
        assert!(shows(&secure, &secure.issued).await);
        secure.issued.write(secure.pair.path());
    }
    fs::remove_file(secure.path("key.pem")).unwrap();
    secure.server.reload().await;
    assert!(shows(&secure, &secure.issued).await);

    next.write(secure.pair.path());
    secure.server.reload().await;
    assert!(shows(&secure, &next).await);
    let tls = &secure.server.status().await["tls"];
    assert_eq!(tls["last_error"], serde_json::Value::Null);
    assert_eq!(tls["expires"], "2096-01-01T00:00:00Z");
}

#[test]
fn a_pair_that_cannot_be_used_is_refused_and_named() {
    let authority = Authority::new();
    let (one, other) = (authority.issue(), authority.issue());
    let directory = tempfile::tempdir().unwrap();
    let (certificate, key) = (
        directory.path().join("cert.pem"),
        directory.path().join("key.pem"),
    );
    let refused = || Tls::load(&certificate, &key).unwrap_err();
    assert!(matches!(refused(), TlsError::Unreadable { path, .. } if path == certificate));
    one.write(directory.path());
    Tls::load(&certificate, &key).unwrap();
    fs::write(&key, &other.key).unwrap();
    assert!(matches!(refused(), TlsError::Mismatch { .. }));
    fs::write(&key, &one.certificate).unwrap();
    assert!(matches!(refused(), TlsError::NoKey { path } if path == key));
    fs::write(&certificate, &one.key).unwrap();
    assert!(matches!(refused(), TlsError::NoCertificate { path } if path == certificate));
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    fs::write(&certificate, broken).unwrap();
    assert!(matches!(refused(), TlsError::BrokenCertificate { .. }));
    fs::remove_file(&certificate).unwrap();
    fs::create_dir(&certificate).unwrap();
    assert!(refused().is_io());
}
