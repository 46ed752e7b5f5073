//! Sockets that another process opened.

use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use crate::served::{Place, Served, answer, ask, copy, get, handing_on, socket, until};

#[test]
fn named_ones_are_distinguished() {
    let place = Place::new();
    let (one, admin) = socket();
    let (two, public) = socket();
    let mut command = place.waypost();
    command
        .stdin(copy(&one))
        .stderr(copy(&two))
        .env("LISTEN_FDNAMES", "admin:public");
    let server = Served::start_with(command, &handing_on(2));
    assert_eq!([&server.public, &server.admin], [&public, &admin]);
    assert_eq!(get(&public, "/x"), "HTTP/1.1 302 Found");
    assert_eq!(get(&admin, "/livez"), "HTTP/1.1 200 OK");
}

#[test]
fn the_first_without_a_name_is_the_public_one_and_what_is_missing_is_bound() {
    let place = Place::new();
    let (one, public) = socket();
    let mut command = place.waypost();
    command.stdin(copy(&one));
    let server = Served::start_with(command, &handing_on(1));
    assert_eq!(server.public, public);
    assert_eq!(get(&server.admin, "/livez"), "HTTP/1.1 200 OK");
}

#[test]
fn those_of_another_process_are_not_ours() {
    let place = Place::new();
    let (one, public) = socket();
    let mut command = place.waypost();
    command.stdin(copy(&one));
    let handing_on = handing_on(1) + "\nexport LISTEN_PID=1";
    let server = Served::start_with(command, &handing_on);
    assert_ne!(server.public, public);
}

/// Starts the program on one descriptor, and returns its message about it.
fn refusal(descriptor: impl Into<Stdio>, name: &str) -> String {
    let place = Place::new();
    let mut command = place.waypost();
    command.stdin(descriptor).env("LISTEN_FDNAMES", name);
    let (status, said) = Served::refused(command, &handing_on(1));
    assert_eq!(status, Some(2), "{said}");
    said
}

#[test]
fn what_cannot_be_listened_on_is_refused() {
    let no_socket = "passed as a listener, is not a listening TCP socket";
    let directory = tempfile::tempdir().unwrap();
    let unix = UnixListener::bind(directory.path().join("socket")).unwrap();
    let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (listener, address) = socket();
    let connected = TcpStream::connect(address).unwrap();
    for descriptor in [
        Stdio::null(),
        OwnedFd::from(unix).into(),
        OwnedFd::from(udp).into(),
        OwnedFd::from(connected).into(),
    ] {
        let said = refusal(descriptor, "public");
        assert!(said.contains("descriptor 3 (public)"), "{said}");
        assert!(said.contains(no_socket), "{said}");
    }
    let said = refusal(copy(&listener), "metrics");
    assert!(said.contains("\"metrics\""), "{said}");
    let said = refusal(copy(&listener), "https-redirect");
    assert!(said.contains("--tls-cert"), "{said}");

    let place = Place::new();
    let nothing = "export LISTEN_FDS=1 LISTEN_PID=$$\nexec 3<&-";
    let (status, said) = Served::refused(place.waypost(), nothing);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("LISTEN_FDS"), "{said}");
}

/// Returns a program that serves on a socket which we keep.
fn on(place: &Place, kept: &std::net::TcpListener) -> Command {
    let mut command = place.waypost();
    command.stdin(copy(kept));
    command
}

#[test]
fn a_client_that_waits_when_a_process_stops_is_answered_by_the_next() {
    let place = Place::new();
    let (kept, public) = socket();
    let server = Served::start_with(on(&place, &kept), &handing_on(1));
    // A request that has begun holds the first process in its last phase.
    let mut begun = TcpStream::connect(&public).unwrap();
    std::io::Write::write_all(&mut begun, b"GET /x HTTP/1.1\r\n").unwrap();
    until(|| {
        let metrics = metrics(&server.admin);
        metrics.contains("waypost_connections 1\n").then_some(())
    });
    server.signal("TERM");
    // The admin listener is its own, and closed then.
    until(|| TcpStream::connect(&server.admin).is_err().then_some(()));
    let mut waits = TcpStream::connect(&public).unwrap();
    ask(&mut waits, "/x");
    std::io::Write::write_all(&mut begun, b"Host: short.code\r\n\r\n").unwrap();
    assert_eq!(answer(begun), "HTTP/1.1 302 Found");
    assert!(server.end().success());

    waits.set_nonblocking(true).unwrap();
    let early = waits.peek(&mut [0]).unwrap_err().kind();
    assert_eq!(early, std::io::ErrorKind::WouldBlock);
    waits.set_nonblocking(false).unwrap();
    let next = Served::start_with(on(&place, &kept), &handing_on(1));
    assert_eq!(answer(waits), "HTTP/1.1 302 Found");
    assert_eq!(next.public, public);
}

fn metrics(admin: &str) -> String {
    let mut stream = TcpStream::connect(admin).unwrap();
    ask(&mut stream, "/metrics");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut stream, &mut text).unwrap();
    text
}
