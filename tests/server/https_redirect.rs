//! The listener that redirects clients to HTTPS.

use std::time::Duration;

use waypost::server::{Config, Signal, Timeouts};

use crate::secure::{Secure, TABLE};
use crate::support::{FOREVER, Reply, Running, quiet, rest, say, soon};

async fn at(secure: &Secure, request: &str) -> Reply {
    say(secure.server.https_redirect.unwrap(), request.as_bytes()).await
}

fn get(host: &str, target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
}

#[tokio::test]
async fn sends_every_request_on_to_the_same_target() {
    let secure = Secure::start(quiet()).await;
    for (target, expected) in [
        ("/x", "https://short.code/x"),
        ("/x?a=b&c", "https://short.code/x?a=b&c"),
        ("/none/such", "https://short.code/none/such"),
        ("//evil.example/x", "https://short.code//evil.example/x"),
        (
            "/%0d%0aSet-Cookie:%20a",
            "https://short.code/%0d%0aSet-Cookie:%20a",
        ),
        ("http://short.code:80/x", "https://short.code/x"),
        (
            "/.well-known/acme-challenge/t",
            "https://short.code/.well-known/acme-challenge/t",
        ),
    ] {
        let reply = at(&secure, &get("short.code", target)).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 301 Moved Permanently");
        assert_eq!(reply.header("location").unwrap(), expected);
        assert_eq!(
            reply.header("cache-control").unwrap(),
            "public, max-age=3600"
        );
    }
    let counted = "waypost_requests_total{outcome=\"to_https\"}";
    assert_eq!(secure.server.metric(counted).await, Some(7.0));
}

#[tokio::test]
async fn a_person_gets_a_page_for_a_refusal() {
    let secure = Secure::start(quiet()).await;
    let html = "Accept: text/html\r\nConnection: close\r\n\r\n";
    for (head, status, heading) in [
        (
            "CONNECT short.code:443 HTTP/1.1\r\nHost: short.code:443\r\n",
            "405 Method Not Allowed",
            "Nothing can be sent here",
        ),
        (
            "GET /x HTTP/1.1\r\nHost: a b\r\n",
            "400 Bad Request",
            "This request is not valid",
        ),
    ] {
        let reply = at(&secure, &format!("{head}{html}")).await;
        assert_eq!(reply.status_line(), format!("HTTP/1.1 {status}"));
        let text = reply.text();
        assert!(text.contains(&format!("<h1>{heading}</h1>")), "{text}");
        assert_eq!(reply.header("connection").as_deref(), Some("close"));
    }
}

#[tokio::test]
async fn the_host_is_from_the_table_and_not_from_the_client() {
    let secure = Secure::start(quiet()).await;
    for host in [
        "evil.example",
        "short.code:8080",
        "SHORT.CODE.",
        "127.0.0.1",
    ] {
        let reply = at(&secure, &get(host, "/x")).await;
        assert_eq!(
            reply.header("location").unwrap(),
            "https://short.code/x",
            "{host}"
        );
    }
    for host in ["user@short.code", "a b", "a/b", ""] {
        let reply = at(&secure, &get(host, "/x")).await;
        if host.is_empty() {
            assert_eq!(reply.header("location").unwrap(), "https://short.code/x");
        } else {
            assert_eq!(reply.status_line(), "HTTP/1.1 400 Bad Request", "{host}");
        }
    }
    let none = at(&secure, "GET /x HTTP/1.1\r\n\r\n").await;
    assert_eq!(none.status_line(), "HTTP/1.1 400 Bad Request");
}

#[tokio::test]
async fn of_several_sites_the_host_chooses() {
    let secure = Secure::with_tables(
        quiet(),
        &[
            "base_url: http://one.example/l/\nmapping: []\n",
            "base_url: https://two.example:8443/\nmapping: []\n",
        ],
    )
    .await;
    let port = secure.server.public.port();
    for (host, expected) in [
        ("one.example", format!("https://one.example:{port}/l/x")),
        ("two.example", "https://two.example:8443/l/x".to_owned()),
    ] {
        let reply = at(&secure, &get(host, "/l/x")).await;
        assert_eq!(reply.header("location"), Some(expected));
    }
    let unknown = at(&secure, &get("three.example", "/x")).await;
    assert_eq!(unknown.status_line(), "HTTP/1.1 421 Misdirected Request");
}

#[tokio::test]
async fn other_methods_keep_theirs_and_health_is_answered() {
    let secure = Secure::start(quiet()).await;
    let post = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc";
    let reply = at(&secure, post).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 308 Permanent Redirect");
    let head = "HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let reply = at(&secure, head).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 301 Moved Permanently");
    let reply = at(&secure, &get("a", "/healthz")).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 200 OK");
    assert_eq!(reply.json()["status"], "pass");
    let connect = "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nConnection: close\r\n\r\n";
    let reply = at(&secure, connect).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 405 Method Not Allowed");
}

#[tokio::test]
async fn it_has_the_timeouts_of_the_public_listener_and_ends_with_it() {
    let config = Config {
        timeouts: Timeouts {
            head: Duration::from_millis(50),
            idle: FOREVER,
            stall: FOREVER,
        },
        ..quiet()
    };
    let secure = Secure::start(config).await;
    let address = secure.server.https_redirect.unwrap();
    let mut silent = soon(tokio::net::TcpStream::connect(address)).await.unwrap();
    assert_eq!(rest(&mut silent).await.0, b"");
    secure.server.signals.send(Signal::Terminate).await.unwrap();
    secure.server.until_ended().await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn neither_listener_in_the_clear_speaks_http_2() {
    let preface = [crate::frames::PREFACE, &crate::frames::settings(&[])].concat();
    let clear = Running::start(TABLE).await;
    let secure = Secure::start(quiet()).await;
    for address in [
        clear.public,
        clear.admin,
        secure.server.https_redirect.unwrap(),
    ] {
        let reply = say(address, &preface).await;
        assert!(
            reply.0.is_empty() || reply.status_line().ends_with(" 400 Bad Request"),
            "{reply}"
        );
    }
}
