//! Reloading under load: nothing lost, nothing half.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use waypost::server::{Config, Files, Signal};

use crate::support::{Running, head_of, quiet, until};

fn table(target: &str) -> String {
    format!(
        "base_url: https://short.code/\nmapping:\n\
         - {{url: 'https://e.example/{target}', short-code: x}}\n"
    )
}

const BROKEN: &str = "base_url: https://short.code/\nmapping:\n- url: [\n";

async fn leads_to(server: &Running, target: &str) {
    let expected = format!("https://e.example/{target}");
    until(async || server.location("/x").await == expected).await;
}

fn polling() -> Config {
    Config {
        poll_interval: Duration::from_millis(5),
        ..Config::default()
    }
}

/// Clients that follow a link without a pause, each on a connection it keeps.
struct Stream {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<u64>>,
}

impl Stream {
    fn start(server: &Running) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let clients = (0..4)
            .map(|_| {
                let stop = Arc::clone(&stop);
                let public = server.public;
                tokio::spawn(async move {
                    let mut stream = TcpStream::connect(public).await.unwrap();
                    let mut answered = 0;
                    while !stop.load(Ordering::Relaxed) {
                        let request = b"GET /x HTTP/1.1\r\nHost: short.code\r\n\r\n";
                        stream.write_all(request).await.unwrap();
                        let reply = head_of(&mut stream).await;
                        assert_eq!(reply.status_line(), "HTTP/1.1 302 Found");
                        let location = reply.header("location").unwrap();
                        assert!(location.starts_with("https://e.example/"), "{location}");
                        answered += 1;
                    }
                    answered
                })
            })
            .collect();
        Self { stop, clients }
    }

    /// Ends the stream; panics if a request was lost or answered otherwise.
    async fn none_lost(self) {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            assert!(crate::support::soon(client).await.unwrap() > 0);
        }
    }
}

#[tokio::test]
async fn three_changes_in_a_row_lose_no_request() {
    let server = Running::start(&table("0")).await;
    let stream = Stream::start(&server);
    for target in ["1", "2", "3"] {
        server.replace_table(&table(target));
        assert_eq!(server.reload().await.json()["result"], "success");
        assert_eq!(
            server.location("/x").await,
            format!("https://e.example/{target}")
        );
    }
    stream.none_lost().await;
    assert_eq!(
        server
            .metric("waypost_reloads_total{result=\"success\"}")
            .await,
        Some(4.0)
    );
}

#[tokio::test]
async fn polling_alone_suffices() {
    let server = Running::configured(polling(), &table("0")).await;
    let stream = Stream::start(&server);
    for target in ["1", "2", "3"] {
        server.replace_table(&table(target));
        leads_to(&server, target).await;
    }
    stream.none_lost().await;
}

#[tokio::test]
async fn watching_alone_suffices() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mapping.yaml");
    std::fs::write(&path, table("0")).unwrap();
    let source = Files::watched(vec![path], 1 << 20);
    let server = Running::on(quiet(), directory, source).await;
    for target in ["1", "2", "3"] {
        server.replace_table(&table(target));
        leads_to(&server, target).await;
    }
}

#[tokio::test]
async fn a_hangup_reloads() {
    let server = Running::start(&table("0")).await;
    server.replace_table(&table("1"));
    server.signals.send(Signal::Hangup).await.unwrap();
    leads_to(&server, "1").await;
}

#[tokio::test]
async fn a_storm_of_requests_to_reload_is_few_reloads() {
    let server = Running::start(&table("0")).await;
    server.replace_table(&table("1"));
    for _ in 0..1000 {
        server.signals.send(Signal::Hangup).await.unwrap();
    }
    let all = (0..20).map(|_| {
        let admin = server.admin;
        let request = b"POST /-/reload HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        tokio::spawn(async move { crate::support::say(admin, request).await })
    });
    for one in all.collect::<Vec<_>>() {
        let reply = crate::support::soon(one).await.unwrap();
        assert_eq!(reply.status_line(), "HTTP/1.1 200 OK");
    }
    assert_eq!(server.location("/x").await, "https://e.example/1");
    assert_eq!(
        server
            .metric("waypost_reloads_total{result=\"success\"}")
            .await,
        Some(2.0)
    );
}

#[tokio::test]
async fn keeps_the_last_good_table_whatever_comes() {
    let server = Running::configured(polling(), &table("good")).await;
    let stream = Stream::start(&server);
    let successful = "waypost_table_last_reload_successful";
    let good = server.status().await["revision"].clone();

    server.replace_table(BROKEN);
    until(async || server.metric(successful).await == Some(0.0)).await;
    let status = server.status().await;
    assert_eq!(status["revision"], good);
    assert_eq!(status["last_error"]["result"], "rejected");
    assert!(
        !status["last_error"]["diagnostics"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        server.operate("GET", "/readyz", "").await.status_line(),
        "HTTP/1.1 200 OK"
    );

    std::fs::remove_file(server.table()).unwrap();
    until(async || server.status().await["last_error"]["result"] == "failed").await;
    assert_eq!(server.status().await["revision"], good);

    // The same text again: nothing to compile, and all is well.
    server.replace_table(&table("good"));
    until(async || server.metric(successful).await == Some(1.0)).await;
    assert_eq!(server.status().await["last_error"], json!(null));
    assert_eq!(
        server
            .metric("waypost_reloads_total{result=\"success\"}")
            .await,
        Some(1.0)
    );

    server.replace_table(&table("better"));
    leads_to(&server, "better").await;
    stream.none_lost().await;
}

#[tokio::test]
async fn a_rejected_table_is_rejected_since_it_was_first_seen() {
    let server = Running::configured(polling(), &table("good")).await;
    server.replace_table(BROKEN);
    until(async || server.status().await["last_error"] != json!(null)).await;
    let since = server.status().await["last_error"]["since"].clone();
    let looked = "waypost_reload_duration_seconds_count";
    let before = server.metric(looked).await;
    until(async || server.metric(looked).await > before.map(|count| count + 5.0)).await;
    assert_eq!(server.status().await["last_error"]["since"], since);
}
