//! What no client should send, and what it gets.

use std::cell::Cell;

use proptest::prelude::*;
use tokio::io::AsyncWriteExt as _;

use crate::support::{Running, head_of, rest, say, until};

const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
                     - {url: 'https://e.example/', short-code: x}\n\
                     - {url: 'https://e.example/p/', short-code: p, forward: path-and-query}\n";

#[tokio::test]
async fn broken_requests_are_bad_requests() {
    let server = Running::start(TABLE).await;
    let requests = [
        "GET /x HTTP/1.1\r\n\r\n",
        "GET http://short.code/x HTTP/1.1\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /x HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a/b\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: u@a\r\n\r\n",
        "GET x HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET ftp://a/x HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://u@a/x HTTP/1.1\r\nHost: a\r\n\r\n",
        "G@T /x HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET  /x HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /x\r\nHost: a\r\n\r\n",
        "GET /x HTTP/3.0\r\nHost: a\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET /x HTTP/1.1\r\n Host: a\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
        "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n",
        "\x16\x03\x01\x02\0\x01\0\x01\u{7c}\x03\x03\r\n\r\n",
    ];
    for request in requests {
        let reply = server.say(request).await;
        let line = reply.status_line();
        assert!(line.ends_with(" 400 Bad Request"), "{request:?}: {line}");
        assert!(reply.header("location").is_none());
    }
    let counted = "waypost_requests_total{outcome=\"bad_request\"}";
    // Those that hyper refuses are counted when their connections end.
    until(async || server.metric(counted).await == Some(requests.len() as f64)).await;
}

#[tokio::test]
async fn methods_for_proxies_are_not_allowed() {
    let server = Running::start(TABLE).await;
    for request in [
        "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nConnection: close\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    ] {
        let reply = server.say(request).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 405 Method Not Allowed");
        assert_eq!(reply.header("allow").unwrap(), "GET, HEAD");
    }
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let server = Running::start(TABLE).await;
    let long = "a".repeat(20_000);
    let huge = "a".repeat(1 << 16);
    // With the host, one more than there may be.
    let many = "A: b\r\n".repeat(100);
    for request in [
        format!("GET /{huge} HTTP/1.1\r\nHost: a\r\n\r\n"),
        format!("GET /{long} HTTP/1.1\r\nHost: a\r\n\r\n"),
        format!("GET /x HTTP/1.1\r\nHost: a\r\nA: {long}\r\n\r\n"),
        format!("GET /x HTTP/1.1\r\nHost: a\r\n{many}\r\n"),
    ] {
        let reply = server.say(request).await;
        let line = reply.status_line();
        assert_eq!(line, "HTTP/1.1 431 Request Header Fields Too Large");
    }
}

#[tokio::test]
async fn a_large_head_is_refused_that_arrives_in_part_with_the_one_before() {
    let server = Running::start(TABLE).await;
    let large = format!(
        "GET /x HTTP/1.1\r\nHost: a\r\nA: {}\r\n\r\n",
        "a".repeat(20_000)
    );
    // Only the second needs hyper from the first request on.
    for path in ["/x", "/healthz"] {
        let mut stream = server.connect().await;
        let first = format!("HEAD {path} HTTP/1.1\r\nHost: a\r\n\r\nG");
        stream.write_all(first.as_bytes()).await.unwrap();
        head_of(&mut stream).await;
        stream.write_all(&large.as_bytes()[1..]).await.unwrap();
        let line = rest(&mut stream).await.status_line();
        assert_eq!(line, "HTTP/1.1 431 Request Header Fields Too Large");
    }
}

#[tokio::test]
async fn a_hundred_header_lines_are_not_too_many() {
    let server = Running::start(TABLE).await;
    let reply = server.ask("GET", "/x", &"A: b\r\n".repeat(98)).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 302 Found");
}

#[tokio::test]
async fn a_target_of_8_kib_is_not_too_large() {
    let server = Running::start(TABLE).await;
    let long = "a".repeat(8192);
    let reply = server.get(&format!("/p/{long}?{}", "b".repeat(4096))).await;
    let location = format!("https://e.example/p/{long}?{}", "b".repeat(4096));
    assert_eq!(reply.header("location"), Some(location));
}

#[tokio::test]
async fn a_new_protocol_gets_no_upgrade() {
    let server = Running::start(TABLE).await;
    let upgrade =
        "GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n";
    assert_eq!(
        server.say(upgrade).await.status_line(),
        "HTTP/1.1 302 Found"
    );
}

#[tokio::test]
async fn paths_that_are_no_text_are_not_found() {
    let server = Running::start(TABLE).await;
    for path in [
        "/%FF",
        "/%00",
        "/x%0d%0aLocation:%20https://evil.example/",
        "/%0d%0a",
        "/%",
        "/%zz",
        "/x%00",
        "//evil.example",
        "//evil.example/x",
        "/%0d%0aSet-Cookie:x",
        "/%2e%2e/",
        "/%2e%2e/x",
        "/../x",
        "/%2F%2Fevil.example",
        "/p/%FF%0d%0a/../x",
    ] {
        let reply = server.get(path).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 404 Not Found", "{path}");
        assert!(reply.header("location").is_none(), "{path}: {reply}");
        assert!(reply.header("set-cookie").is_none(), "{path}: {reply}");
    }
}

#[test]
fn no_target_leads_anywhere_but_to_the_table() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(Running::start(TABLE));
    let bytes = proptest::collection::vec(any::<u8>(), 0..40);
    let redirects = Cell::new(0);
    let alike = "[/xp.+?#%@:\\\\\\r\\n \t;0-9a-fA-F-]{0,24}";
    proptest!(|(bytes in bytes, text in alike, forwarded in any::<bool>())| {
        for raw in [&bytes[..], text.as_bytes()] {
            let mut request = if forwarded { b"GET /p/".to_vec() } else { b"GET /".to_vec() };
            request.extend_from_slice(raw);
            request.extend_from_slice(b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            let reply = runtime.block_on(say(server.public, &request));
            if reply.0.is_empty() {
                continue;
            }
            if let Some(location) = reply.header("location") {
                redirects.set(redirects.get() + 1);
                prop_assert!(location.starts_with("https://e.example/"), "{location}");
                prop_assert!(location.bytes().all(|byte| byte.is_ascii_graphic()), "{location}");
            }
        }
    });
    assert!(redirects.get() > 10, "{} redirects", redirects.get());
}
