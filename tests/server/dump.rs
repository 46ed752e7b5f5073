//! Dumps: the live table, taken as a whole.

use std::io::Read as _;
use std::time::Duration;

use flate2::read::GzDecoder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use waypost::mapping::{SourceFile, Table, compare, compile};
use waypost::server::{Config, Files, Pace, Timeouts};

use crate::support::{Reply, Running, quiet, soon, until};

const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
                     - {url: 'https://e.example/', short-code: x, aliases: [a/b]}\n\
                     - {url: 'https://e.example/old', short-code: old, retired: true}\n";

fn table(yaml: &str) -> Table {
    let file = SourceFile {
        path: "t.yaml".into(),
        bytes: yaml.into(),
    };
    compile(&[file]).table.unwrap()
}

/// Downloads a dump in one piece, as in HTTP/1.0.
async fn taken(server: &Running, host: &str, path: &str, headers: &str) -> Reply {
    let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\n{headers}\r\n");
    server.say(request).await
}

#[tokio::test]
async fn anyone_may_take_the_table() {
    let server = Running::start(TABLE).await;
    for (name, media_type) in [
        ("yaml", "application/yaml"),
        ("jsonl", "application/jsonl"),
        ("beacon", "text/plain; charset=utf-8"),
    ] {
        let path = format!("/-/mapping.{name}");
        let reply = taken(&server, "short.code", &path, "").await;
        assert!(reply.status_line().ends_with("200 OK"), "{reply}");
        assert_eq!(reply.header("content-type").unwrap(), media_type);
        assert_eq!(reply.header("x-content-type-options").unwrap(), "nosniff");
        assert_eq!(reply.header("vary").unwrap(), "accept-encoding");
        assert_eq!(reply.header("cache-control").unwrap(), "no-cache");
        assert!(reply.header("etag").unwrap().starts_with("W/\"sha256:"));
        let text = reply.text();
        match name {
            "yaml" => assert_eq!(compare(&table(TABLE), &table(&text)).len(), 0, "{text}"),
            "jsonl" => assert_eq!(text.lines().count(), 2, "{text}"),
            _ => assert!(text.ends_with("\n\nx|https://e.example/\na/b|https://e.example/\n")),
        }
        // In HTTP/1.1 it is sent in chunks, the last of which marks the end.
        let reply = server.get(&path).await;
        assert_eq!(reply.header("transfer-encoding").unwrap(), "chunked");
        assert!(reply.text().ends_with("\r\n0\r\n\r\n"), "{reply}");
        assert!(reply.text().contains(&text), "{reply}");

        let packed = "Accept-Encoding: gzip\r\n";
        let reply = taken(&server, "short.code", &path, packed).await;
        assert_eq!(reply.header("content-encoding").unwrap(), "gzip");
        let mut unpacked = String::new();
        let mut decoder = GzDecoder::new(reply.body());
        decoder.read_to_string(&mut unpacked).unwrap();
        assert_eq!(unpacked, text);
    }
    assert_eq!(
        server
            .metric("waypost_requests_total{outcome=\"page\"}")
            .await,
        Some(9.0)
    );
}

#[tokio::test]
async fn who_has_it_need_not_take_it_again() {
    let server = Running::start(TABLE).await;
    let path = "/-/mapping.yaml";
    let tag = server.get(path).await.header("etag").unwrap();
    let strong = tag.strip_prefix("W/").unwrap();
    for known in [&*tag, strong, "*", &format!("\"other\", {tag}")] {
        let asked = format!("If-None-Match: {known}\r\n");
        let reply = server.ask("GET", path, &asked).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 304 Not Modified", "{known}");
        assert_eq!(reply.header("etag").as_ref(), Some(&tag));
        assert!(reply.body().is_empty());
    }
    server.replace_table(&TABLE.replace("old", "older"));
    server.reload().await;
    let asked = format!("If-None-Match: {tag}\r\n");
    let reply = server.ask("GET", path, &asked).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 200 OK");
    assert!(reply.text().contains("older"));
}

#[tokio::test]
async fn a_head_is_a_get_without_content() {
    let server = Running::start(TABLE).await;
    for headers in ["", "Accept-Encoding: gzip\r\n"] {
        let get = server.ask("GET", "/-/mapping.jsonl", headers).await;
        let head = server.ask("HEAD", "/-/mapping.jsonl", headers).await;
        let mut expected = get.head();
        // Without content there are no chunks.
        expected.retain(|line| line != "Transfer-Encoding: chunked");
        let mut found = head.head();
        found.retain(|line| line != "Transfer-Encoding: chunked");
        assert_eq!(found, expected);
        assert!(head.body().is_empty());
    }
    let reply = server.ask("POST", "/-/mapping.jsonl", "").await;
    assert_eq!(reply.status_line(), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(reply.header("allow").unwrap(), "GET, HEAD");
}

#[tokio::test]
async fn where_it_is_turned_off_there_is_nothing() {
    let config = Config {
        public_table: false,
        ..quiet()
    };
    let server = Running::configured(config, TABLE).await;
    let reply = server.get("/-/mapping.yaml").await;
    assert_eq!(reply, {
        let mut other = server.get("/-/nothing.such").await;
        let date = |reply: &Reply| reply.header("date").unwrap();
        let (from, to) = (date(&other), date(&reply));
        other.0 = other.to_string().replace(&from, &to).into_bytes();
        other
    });
    assert_eq!(reply.status_line(), "HTTP/1.1 404 Not Found");
}

#[tokio::test]
async fn of_several_sites_the_host_and_the_path_choose() {
    let directory = tempfile::tempdir().unwrap();
    for (name, base_url) in [
        ("a", "a.example/"),
        ("s", "a.example/s/"),
        ("b", "b.example/s/"),
    ] {
        let text = format!(
            "base_url: https://{base_url}\nmapping:\n- {{url: 'https://e.example/', short-code: x}}\n"
        );
        std::fs::write(directory.path().join(format!("{name}.yaml")), text).unwrap();
    }
    let source = Files::polled(vec![directory.path().to_owned()], 1 << 20);
    let server = Running::on(quiet(), directory, source).await;
    for (host, path, base_url) in [
        ("a.example", "/-/mapping.yaml", "https://a.example/"),
        ("a.example", "/s/-/mapping.yaml", "https://a.example/s/"),
        ("b.example", "/s/-/mapping.yaml", "https://b.example/s/"),
        ("b.example", "/-/mapping.yaml", "https://b.example/s/"),
    ] {
        let text = taken(&server, host, path, "").await.text();
        let first = format!("base_url: {base_url}\n");
        assert!(text.starts_with(&first), "{host}{path}: {text}");
    }
    for path in ["/x/-/mapping.yaml", "/s/x/-/mapping.yaml", "/mapping.yaml"] {
        let reply = taken(&server, "a.example", path, "").await;
        assert!(reply.status_line().ends_with("404 Not Found"), "{path}");
    }
    let reply = taken(&server, "c.example", "/-/mapping.yaml", "").await;
    assert!(reply.status_line().ends_with("421 Misdirected Request"));
}

/// A table that is larger than any socket buffer.
async fn large(config: Config) -> Running {
    let mut text = "base_url: https://short.code/\nmapping:\n".to_owned();
    for number in 0..3000 {
        let filling = "x".repeat(8000);
        text += &format!("- url: https://e.example/{filling}\n  short-code: c{number}\n");
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mapping.yaml");
    std::fs::write(&path, text).unwrap();
    let source = Files::polled(vec![path], 64 << 20);
    Running::on(config, directory, source).await
}

/// Returns as many clients as may read at once, each with the first byte of its answer.
async fn slow_clients(server: &Running, path: &str) -> Vec<TcpStream> {
    let mut clients = Vec::new();
    for _ in 0..4 {
        let mut client = server.connect().await;
        let request = format!("GET {path} HTTP/1.0\r\nHost: short.code\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(soon(client.read_u8()).await.unwrap(), b'H');
        clients.push(client);
    }
    clients
}

#[tokio::test]
async fn few_are_taken_at_once_and_none_holds_up_a_redirect() {
    let server = large(quiet()).await;
    let path = "/-/mapping.yaml";
    let mut clients = slow_clients(&server, path).await;
    let reply = server.get(path).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 503 Service Unavailable");
    assert_eq!(reply.header("retry-after").unwrap(), "30");
    // It is no page.
    let pages = "waypost_requests_total{outcome=\"page\"}";
    assert_eq!(server.metric(pages).await, Some(4.0));
    let reply = server.get("/c1").await;
    assert_eq!(reply.status_line(), "HTTP/1.1 302 Found");

    // One goes on, and gets the rest; one leaves, and makes room.
    let mut rest = Vec::new();
    let mut first = clients.remove(0);
    soon(first.read_to_end(&mut rest)).await.unwrap();
    assert!(rest.len() > 3000 * 8000);
    drop(clients);
    until(async || server.get(path).await.status_line() == "HTTP/1.1 200 OK").await;
}

#[tokio::test]
async fn a_dump_may_take_longer_than_a_connection_may_be_idle() {
    let idle = Duration::from_millis(50);
    let timeouts = Timeouts {
        idle,
        ..Timeouts::default()
    };
    let server = large(Config {
        timeouts,
        ..quiet()
    })
    .await;
    let mut client = server.connect().await;
    let request = "GET /-/mapping.yaml HTTP/1.0\r\nHost: short.code\r\n\r\n";
    client.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(idle * 4).await;
    let mut all = Vec::new();
    soon(client.read_to_end(&mut all)).await.unwrap();
    assert!(all.len() > 3000 * 8000);
}

#[tokio::test]
async fn who_does_not_read_on_makes_room_for_others() {
    let pace = Pace {
        budget: Duration::from_millis(100),
        a_piece: Duration::ZERO,
    };
    let server = large(Config {
        dump_pace: pace,
        ..quiet()
    })
    .await;
    let path = "/-/mapping.yaml";
    let clients = slow_clients(&server, path).await;
    // They stay connected, and never read again.
    until(async || server.ask("GET", path, "").await.status_line() == "HTTP/1.1 200 OK").await;
    // What they received is incomplete, and they can detect that.
    for mut client in clients {
        let mut rest = Vec::new();
        let _ = soon(client.read_to_end(&mut rest)).await;
        assert!(rest.len() < 3000 * 8000);
    }
}
