//! The admin listener.

use serde_json::json;

use std::time::Duration;

use tokio::net::TcpStream;
use waypost::server::{Config, Timeouts};

use crate::support::{Running, quiet, rest, say, soon};

const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
                     - {url: 'https://e.example/', short-code: x}\n\
                     - {url: 'https://e.example/p/', short-code: p, forward: path}\n";
const BROKEN: &str = "base_url: https://short.code/\nmapping:\n- {url: 'ftp://e.example/'}\n";

#[tokio::test]
async fn probes_pass_while_a_table_is_live() {
    let server = Running::start(TABLE).await;
    for path in ["/livez", "/readyz"] {
        let reply = server.operate("GET", path, "").await;
        assert_eq!(
            reply.head(),
            [
                "HTTP/1.1 200 OK",
                "Content-Type: text/plain; charset=utf-8",
                "X-Content-Type-Options: nosniff",
                "Content-Length: 3",
                "Cache-Control: no-store",
                "Connection: close",
            ]
        );
        let head = server.operate("HEAD", path, "").await;
        assert_eq!(head.head(), reply.head());
        assert_eq!(head.body(), b"");
    }
}

#[tokio::test]
async fn the_status_shows_what_is_served() {
    let server = Running::start(TABLE).await;
    let status = server.status().await;
    assert_eq!(status["entries"], 2);
    let sites = json!([{"base_url": "https://short.code/", "entries": 2}]);
    assert_eq!(status["sites"], sites);
    assert_eq!(status["source"], server.table().to_str().unwrap());
    assert_eq!(status["revision"]["commit"], json!(null));
    assert_eq!(status["revision"]["dirty"], false);
    assert_eq!(status["revision"]["hash"].as_str().unwrap().len(), 64);
    assert!(status["revision"]["time"].as_str().unwrap().ends_with('Z'));
    assert_eq!(status["last_reload"]["result"], "success");
    assert_eq!(status["last_error"], json!(null));
}

#[tokio::test]
async fn a_reload_is_answered_when_it_is_done() {
    let server = Running::start(TABLE).await;
    let unchanged = server.reload().await;
    assert_eq!(unchanged.status_line(), "HTTP/1.1 200 OK");
    assert_eq!(unchanged.json()["result"], "unchanged");

    server.replace_table(&TABLE.replace("short-code: x", "short-code: y"));
    let changed = server.reload().await;
    assert_eq!(changed.status_line(), "HTTP/1.1 200 OK");
    assert_eq!(changed.json()["result"], "success");
    assert_eq!(
        changed.json()["revision"],
        server.status().await["revision"]
    );
    assert_eq!(server.get("/y").await.status_line(), "HTTP/1.1 302 Found");

    server.replace_table(BROKEN);
    let rejected = server.reload().await;
    assert_eq!(rejected.status_line(), "HTTP/1.1 422 Unprocessable Entity");
    assert_eq!(rejected.json()["result"], "rejected");
    let diagnostic = &rejected.json()["diagnostics"][0];
    assert_eq!(diagnostic["rule"], "url-scheme-unsupported");
    assert_eq!(diagnostic["severity"], "error");
    assert_eq!(diagnostic["file"], server.table().to_str().unwrap());
    assert_eq!(diagnostic["line"], 3);
    assert!(diagnostic["column"].is_u64());
    assert!(diagnostic["message"].is_string());
    assert!(diagnostic.as_object().unwrap().contains_key("hint"));
    assert_eq!(server.get("/y").await.status_line(), "HTTP/1.1 302 Found");

    std::fs::remove_file(server.table()).unwrap();
    let failed = server.reload().await;
    assert_eq!(failed.status_line(), "HTTP/1.1 503 Service Unavailable");
    assert_eq!(failed.json()["result"], "failed");
    assert!(
        failed.json()["message"]
            .as_str()
            .unwrap()
            .contains("could not be read: ")
    );
    assert_eq!(server.get("/y").await.status_line(), "HTTP/1.1 302 Found");
}

#[tokio::test]
async fn browsers_cannot_be_made_to_reload() {
    let server = Running::start(TABLE).await;
    for origin in ["https://evil.example", "null", ""] {
        let header = format!("Origin: {origin}\r\n");
        let reply = server.operate("POST", "/-/reload", &header).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 403 Forbidden");
    }
    for site in ["cross-site", "same-site", "same-origin", "none"] {
        let header = format!("Sec-Fetch-Site: {site}\r\n");
        let reply = server.operate("POST", "/-/reload", &header).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 403 Forbidden", "{site}");
    }
    let reply = server.operate("GET", "/-/reload", "").await;
    assert_eq!(reply.status_line(), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(reply.header("allow").unwrap(), "POST");
    assert_eq!(
        server
            .metric("waypost_reloads_total{result=\"unchanged\"}")
            .await,
        Some(0.0)
    );
}

/// Sends a request with these lines for its host.
async fn named(server: &Running, line: &str, hosts: &str) -> String {
    let request = format!("{line}\r\n{hosts}Connection: close\r\n\r\n");
    let reply = say(server.admin, request.as_bytes()).await;
    reply.status_line()["HTTP/1.1 ".len()..].to_owned()
}

#[tokio::test]
async fn a_page_cannot_give_itself_the_address_of_the_listener() {
    let admin_hosts = vec!["Admin.Example".parse().unwrap()];
    let config = Config {
        admin_hosts,
        ..quiet()
    };
    let server = Running::configured(config, TABLE).await;
    let port = server.admin.port();
    let ours = ["127.0.0.1", "[::1]", "localhost", "admin.example"];
    for host in ours.map(|host| [host.to_owned(), format!("{host}:{port}")]) {
        for host in host {
            let field = format!("Host: {host}\r\n");
            let status = named(&server, "GET /-/status HTTP/1.1", &field).await;
            assert_eq!(status, "200 OK", "{host}");
            let status = named(&server, "POST /-/reload HTTP/1.1", &field).await;
            assert_eq!(status, "200 OK", "{host}");
        }
    }
    let others = [
        "evil.example",
        "localhost.evil.example",
        "",
        "admin.example.evil.example",
    ];
    for host in others {
        let field = format!("Host: {host}\r\n");
        for line in [
            "GET /-/status",
            "POST /-/reload",
            "GET /x",
            "OPTIONS /-/status",
        ] {
            let status = named(&server, &format!("{line} HTTP/1.1"), &field).await;
            assert_eq!(status, "421 Misdirected Request", "{line} at {host}");
        }
    }
    // Without a host, and under two of them; an absolute target counts before the field.
    let status = named(&server, "GET /-/status HTTP/1.0", "").await;
    assert_eq!(status, "421 Misdirected Request");
    let status = named(&server, "GET /-/status HTTP/1.1", "").await;
    assert_eq!(status, "400 Bad Request");
    let both = "Host: localhost\r\nHost: evil.example\r\n";
    let status = named(&server, "GET /-/status HTTP/1.1", both).await;
    assert_eq!(status, "400 Bad Request");
    let absolute = "GET http://evil.example/-/status HTTP/1.1";
    let status = named(&server, absolute, "Host: localhost\r\n").await;
    assert_eq!(status, "421 Misdirected Request");

    let request = b"GET /-/status HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    let text = say(server.admin, request).await.text();
    assert!(text.contains("\"admin host\""), "{text}");
    assert!(!text.contains("evil"), "{text}");
}

#[tokio::test]
async fn probes_and_scrapers_find_it_under_any_name() {
    let server = Running::start(TABLE).await;
    for path in ["/livez", "/readyz", "/healthz", "/metrics"] {
        for host in ["Host: waypost.links.svc:8081\r\n", "Host: \r\n", ""] {
            let status = named(&server, &format!("GET {path} HTTP/1.1"), host).await;
            assert_eq!(status, "200 OK", "{path} {host}");
        }
        let status = named(&server, &format!("GET {path} HTTP/1.0"), "").await;
        assert_eq!(status, "200 OK", "{path}");
    }
}

#[tokio::test]
async fn silent_connections_do_not_delay_probes() {
    let hour = Duration::from_secs(3600);
    let timeouts = Timeouts {
        head: hour,
        idle: hour,
        stall: hour,
    };
    let config = Config {
        timeouts,
        ..quiet()
    };
    let server = Running::configured(config, TABLE).await;
    let mut silent = Vec::new();
    for _ in 0..200 {
        silent.push(soon(TcpStream::connect(server.admin)).await.unwrap());
    }
    for _ in 0..100 {
        let reply = server.operate("GET", "/livez", "").await;
        assert_eq!(reply.status_line(), "HTTP/1.1 200 OK");
    }
    // Some of them were closed for it, those that came first.
    for mut client in silent.into_iter().take(100) {
        assert_eq!(rest(&mut client).await.0, b"");
    }
}

#[tokio::test]
async fn it_knows_nothing_else() {
    let server = Running::start(TABLE).await;
    for path in ["/", "/x", "/-/", "/metrics/"] {
        let reply = server.operate("GET", path, "").await;
        assert_eq!(reply.status_line(), "HTTP/1.1 404 Not Found", "{path}");
    }
    for path in ["/livez", "/readyz", "/metrics", "/-/status"] {
        let reply = server.operate("POST", path, "").await;
        assert_eq!(reply.status_line(), "HTTP/1.1 405 Method Not Allowed");
        assert_eq!(reply.header("allow").unwrap(), "GET, HEAD");
    }
}

#[tokio::test]
async fn requests_are_counted_by_what_they_got() {
    let server = Running::start(TABLE).await;
    for (path, outcome) in [
        ("/x", "redirect"),
        ("/p/a", "forward"),
        ("/x.", "repaired"),
        ("/x+", "preview"),
        ("/", "page"),
        ("/none", "not_found"),
    ] {
        server.get(path).await;
        let name = format!("waypost_requests_total{{outcome=\"{outcome}\"}}");
        assert_eq!(server.metric(&name).await, Some(1.0), "{outcome}");
    }
    server.ask("POST", "/x", "").await;
    let name = "waypost_requests_total{outcome=\"method_not_allowed\"}";
    assert_eq!(server.metric(name).await, Some(1.0));
    assert_eq!(
        server
            .metric("waypost_request_duration_seconds_count")
            .await,
        Some(7.0)
    );
    assert_eq!(server.metric("waypost_table_entries").await, Some(2.0));
    assert!(server.metric("waypost_table_bytes").await.unwrap() > 0.0);
    assert_eq!(
        server.metric("waypost_table_last_reload_successful").await,
        Some(1.0)
    );
    assert_eq!(
        server.metric("waypost_reload_duration_seconds_count").await,
        Some(1.0)
    );
}

#[tokio::test]
async fn no_client_makes_a_label() {
    let server = Running::start(TABLE).await;
    let series = async || {
        let text = server.operate("GET", "/metrics", "").await.text();
        let name = |line: &str| line.rsplit_once(' ').map(|(name, _)| name.to_owned());
        let mut names: Vec<_> = text.lines().filter_map(name).collect();
        names.retain(|name| !name.starts_with('#'));
        names
    };
    let before = series().await;
    for noise in 0..20 {
        let request = format!(
            "NOISE{noise} /noise{noise}?noise{noise} HTTP/1.1\r\nHost: noise{noise}\r\n\
             User-Agent: noise{noise}\r\nConnection: close\r\n\r\n"
        );
        say(server.public, request.as_bytes()).await;
        say(server.admin, request.as_bytes()).await;
    }
    assert_eq!(series().await, before);
    assert!(!before.iter().any(|name| name.contains("noise")));
}

#[tokio::test]
async fn one_revision_is_live() {
    let server = Running::start(TABLE).await;
    for code in ["a", "b", "c"] {
        server.replace_table(&TABLE.replace("short-code: x", &format!("short-code: {code}")));
        server.reload().await;
        let text = server.operate("GET", "/metrics", "").await.text();
        let info: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with("waypost_table_info{"))
            .collect();
        let hash = server.status().await["revision"]["hash"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(
            info,
            [format!(
                "waypost_table_info{{revision=\"sha256:{hash}\"}} 1"
            )]
        );
    }
}

#[tokio::test]
async fn it_waits_for_a_table_if_configured_to() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("mapping.yaml"), BROKEN).unwrap();
    let config = waypost::server::Config {
        wait: true,
        ..quiet()
    };
    let server = Running::in_directory(config, directory).await;

    let live = server.operate("GET", "/livez", "").await;
    assert_eq!(live.status_line(), "HTTP/1.1 200 OK");
    let unready = "HTTP/1.1 503 Service Unavailable";
    assert_eq!(
        server.operate("GET", "/readyz", "").await.status_line(),
        unready
    );
    let health = server.get("/healthz").await;
    assert_eq!(health.status_line(), unready);
    assert_eq!(health.json()["status"], "fail");
    assert_eq!(server.get("/x").await.status_line(), unready);
    assert_eq!(
        server.get("/robots.txt").await.status_line(),
        "HTTP/1.1 200 OK"
    );
    let status = server.status().await;
    assert_eq!(status["revision"], json!(null));
    assert_eq!(status["last_error"]["result"], "rejected");

    server.replace_table(TABLE);
    assert_eq!(server.reload().await.status_line(), "HTTP/1.1 200 OK");
    assert_eq!(
        server.operate("GET", "/readyz", "").await.status_line(),
        "HTTP/1.1 200 OK"
    );
    assert_eq!(server.get("/x").await.status_line(), "HTTP/1.1 302 Found");
}
