//! The admin listener.

use serde_json::json;

use crate::support::{Running, quiet, say};

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
async fn the_status_tells_what_is_served() {
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
async fn it_waits_for_a_table_if_told_to() {
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
