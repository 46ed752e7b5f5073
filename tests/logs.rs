//! What the server logs, and what it does not.
//!
//! A program of its own: which log events are on at all is known once to a whole process.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tracing::level_filters::LevelFilter;
use waypost::server::{Config, HookSecret};

use crate::support::{Running, until};

const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
                     - {url: 'https://e.example/', short-code: x}\n";

/// Where a test's own log goes.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

// The test runtime has one thread, and so everything the server does on it is in its log.
#[tokio::test]
async fn a_problem_is_logged_once_and_clients_are_not() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let config = Config {
        poll_interval: Duration::from_millis(2),
        hook: HookSecret::new("secret of ours"),
        ..Config::default()
    };
    let server = Running::configured(config, TABLE).await;
    let entry = "- {url: 'nothing'}\n";
    server.replace_table(&format!("{TABLE}{}", entry.repeat(30)));
    let looked = "waypost_reload_duration_seconds_count";
    let rejected = "waypost_reloads_total{result=\"rejected\"}";
    until(async || server.metric(rejected).await > Some(5.0)).await;
    std::fs::remove_file(server.table()).unwrap();
    let failed = "waypost_reloads_total{result=\"failed\"}";
    until(async || server.metric(failed).await > Some(2.0)).await;
    let request = "GET /secret HTTP/1.1\r\nHost: secret\r\nUser-Agent: secret\r\n\
                   Connection: close\r\n\r\n";
    server.say(request).await;
    for nonsense in [
        "secret",
        "GET /x HTTP/1.1\r\nsecret: secret\r\n\r\n",
        "GET /secret\nsecret\n\n",
        "POST /-/hook HTTP/1.1\r\nHost: a\r\nX-Gitlab-Token: secret\r\n\r\n",
        "POST /-/hook HTTP/1.1\r\nHost: a\r\nX-Gitea-Signature: aa\r\nContent-Length: 9\r\n\r\n",
    ] {
        for address in [server.public, server.admin] {
            let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
            stream.write_all(nonsense.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut reply = Vec::new();
            // Whether it is answered or cut off does not matter.
            let _ = stream.read_to_end(&mut reply).await;
        }
    }
    assert!(server.metric(looked).await.is_some());

    let text = log.text();
    assert_eq!(text.matches("table loaded").count(), 1, "{text}");
    assert_eq!(text.matches("table rejected").count(), 1, "{text}");
    assert_eq!(text.matches("in the rejected table").count(), 20, "{text}");
    assert_eq!(text.matches("more=").count(), 1, "{text}");
    assert_eq!(text.matches("cannot load the table").count(), 1, "{text}");
    assert!(!text.contains("secret"), "{text}");
    let addresses: Vec<_> = text
        .lines()
        .filter(|line| line.contains("127.0.0.1"))
        .collect();
    assert_eq!(addresses.len(), 1, "{addresses:?}");
    let own = format!(
        "serving public=\"{}\" admin=\"{}\"",
        server.public, server.admin
    );
    assert!(addresses[0].ends_with(&own), "{addresses:?}");
}
