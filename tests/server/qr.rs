//! QR codes of short links.

use waypost::exchange::qr_svg;

use crate::support::{Reply, Running, quiet};

const TABLE: &str = "---
base_url: https://short.code/
mapping:
- url: https://framasoft.org/
- {url: 'https://e.example/1', short-code: docs/été, aliases: [guide]}
- {url: 'https://e.example/2', short-code: old, retired: true}
- {url: 'https://e.example/3', short-code: logo.svg}
";

const OTHER: &str = "base_url: https://other.example/go/
mapping:
- {url: 'https://e.example/4', short-code: docs}
";

async fn picture(server: &Running, host: &str, path: &str) -> Reply {
    let head = format!("Host: {host}\r\nConnection: close\r\n\r\n");
    server.say(format!("GET {path} HTTP/1.1\r\n{head}")).await
}

#[tokio::test]
async fn every_existing_code_has_one() {
    let server = Running::start(TABLE).await;
    for (path, url) in [
        ("t0P0JMya", "https://short.code/t0P0JMya"),
        ("%740P0JMya", "https://short.code/t0P0JMya"),
        (
            "docs/%C3%A9t%C3%A9",
            "https://short.code/docs/%C3%A9t%C3%A9",
        ),
        (
            "docs/e%CC%81te%CC%81",
            "https://short.code/docs/%C3%A9t%C3%A9",
        ),
        ("guide", "https://short.code/guide"),
        ("old", "https://short.code/old"),
        ("logo.svg", "https://short.code/logo.svg"),
    ] {
        let reply = picture(&server, "short.code", &format!("/-/qr/{path}.svg")).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 200 OK", "{path}");
        assert_eq!(Some(reply.text()), qr_svg(url), "{path}");
    }
    // Neither unknown codes, nor what leads to known ones in another way.
    for path in [
        "none.svg",
        "t0P0JMya",
        "t0P0JMya.png",
        "t0P0JMya/.svg",
        "t0P0JMya+.svg",
        "logo.svg",
        ".svg",
        "docs%2F%C3%A9t%C3%A9.svg",
        "%00.svg",
        "%ff.svg",
        "T0P0JMYA.svg",
    ] {
        let reply = picture(&server, "short.code", &format!("/-/qr/{path}")).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 404 Not Found", "{path}");
    }
}

#[tokio::test]
async fn a_code_in_another_case_has_that_of_the_written_one() {
    let server = Running::start(&TABLE.replace("mapping:", "case: fold\nmapping:")).await;
    for (path, url) in [
        ("GUIDE", "https://short.code/guide"),
        (
            "DOCS/%C3%89t%C3%A9",
            "https://short.code/docs/%C3%A9t%C3%A9",
        ),
    ] {
        let reply = picture(&server, "short.code", &format!("/-/qr/{path}.svg")).await;
        assert_eq!(Some(reply.text()), qr_svg(url), "{path}");
    }
    let reply = picture(&server, "short.code", "/-/qr/T0P0JMYA.svg").await;
    assert_eq!(reply.status_line(), "HTTP/1.1 404 Not Found");
}

#[tokio::test]
async fn a_picture_is_safe_and_can_be_kept() {
    let server = Running::start(TABLE).await;
    let path = "/-/qr/guide.svg";
    let reply = server.get(path).await;
    let tag = reply.header("etag").unwrap();
    for (name, value) in [
        ("content-type", "image/svg+xml"),
        ("x-content-type-options", "nosniff"),
        (
            "content-security-policy",
            "default-src 'none'; frame-ancestors 'none'",
        ),
        ("cache-control", "public, max-age=86400"),
    ] {
        assert_eq!(reply.header(name).as_deref(), Some(value));
    }
    let again = server
        .ask("GET", path, &format!("If-None-Match: {tag}\r\n"))
        .await;
    assert_eq!(again.status_line(), "HTTP/1.1 304 Not Modified");
    assert_eq!(again.header("etag"), Some(tag.clone()));
    assert!(again.body().is_empty());
    assert_ne!(server.get("/-/qr/old.svg").await.header("etag"), Some(tag));

    let head = server.ask("HEAD", path, "").await;
    assert_eq!(head.head(), reply.head());
    assert!(head.body().is_empty());
    let post = server.ask("POST", path, "Content-Length: 0\r\n").await;
    assert_eq!(post.status_line(), "HTTP/1.1 405 Method Not Allowed");
}

#[tokio::test]
async fn host_and_base_path_choose_the_site() {
    let directory = tempfile::tempdir().unwrap();
    let table = directory.path().join("mapping.yaml");
    std::fs::create_dir(&table).unwrap();
    std::fs::write(table.join("one.yaml"), TABLE).unwrap();
    std::fs::write(table.join("other.yaml"), OTHER).unwrap();
    let server = Running::in_directory(quiet(), directory).await;
    let expected = qr_svg("https://other.example/go/docs");
    for path in ["/-/qr/docs.svg", "/go/-/qr/docs.svg"] {
        let reply = picture(&server, "other.example", path).await;
        assert_eq!(Some(reply.text()), expected, "{path}");
    }
    for (host, path, status) in [
        ("short.code", "/-/qr/docs.svg", "404 Not Found"),
        ("short.code", "/go/-/qr/guide.svg", "404 Not Found"),
        ("other.example", "/go/-/qr/guide.svg", "404 Not Found"),
        ("third.example", "/-/qr/docs.svg", "421 Misdirected Request"),
    ] {
        let reply = picture(&server, host, path).await;
        assert_eq!(
            reply.status_line(),
            format!("HTTP/1.1 {status}"),
            "{host}{path}"
        );
    }
}
